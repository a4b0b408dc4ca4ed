import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";

import en from "../../src/language/en.json";
import { runCommand } from "../cli/commands.ts";
import { run } from "../cli/run.ts";
import { BASE_URL, type Running, startHere, temporaryFolder } from "../service.ts";
import { addCampaign, askAs, CAMPAIGN, report, TOKEN, untilAnswered, untilRefused } from "./operator.ts";

let curt: Running;
beforeAll(async () => {
  curt = await startHere({ ADMIN_TOKEN: TOKEN });
});
afterAll(async () => {
  await curt[Symbol.asyncDispose]();
});

const settingsFor = (DATABASE_URL: string) => ({ PORT: "0", BASE_URL, DATABASE_URL });

/** Runs `curt admin …` on the store of the service, without its token. */
const admin = (...args: string[]) => runCommand(["admin", ...args], settingsFor(curt.databaseUrl));

/** The same, told as JSON. */
async function told(...args: string[]): Promise<any[]> {
  const { code, stdout, stderr } = await admin(...args, "--json");
  expect([args, code, stderr]).toEqual([args, 0, ""]);
  return stdout
    .trimEnd()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as unknown);
}

test("an evening as an operator, in the shell", async () => {
  await addCampaign(curt);
  await curt.shorten({ original_url: "https://honest.example/verify-account/", custom_code: "honest" });
  await report(curt, "bad7", { reason: "phishing", note: "Fake!" });
  await report(curt, "honest", { reason: "phishing" });
  expect((await told("cases")).map(({ code, state }) => [code, state])).toEqual([
    ["honest", "open"],
    ["bad7", "open"],
  ]);

  const search = ["--q", "verify-account", "--state", "active"];
  const count = CAMPAIGN.links + 1;
  expect(await told("links", ...search, "--limit", "500")).toHaveLength(count);
  const asked = await admin("disable-found", ...search, "--reason", "phishing");
  expect([asked.code, asked.stdout]).toEqual([0, expect.stringContaining(`Links found: ${count}. Nothing`)]);
  expect(asked.stdout).toMatch(/login0\.bank-0\.example +8\n/);
  expect(await told("links", "--state", "disabled")).toEqual([]);
  const done = ["disable-found", ...search, "--reason", "phishing", "--note", "campaign", "--yes"];
  expect(await told(...done)).toEqual([{ count, done: true, changed: count }]);
  // The server that runs hears of it.
  for (const code of ["bad0", "bad59", "honest"]) await untilAnswered(curt, code, 410);

  expect((await admin("block", "bank-3.example", "--reason", "phishing")).stdout).toBe("Done.\n");
  await untilRefused(curt, "https://new.bank-3.example/");
  expect((await told("hosts")).map(({ host, reason }) => [host, reason])).toEqual([
    ["bank-3.example", "phishing"],
  ]);
  expect(await told("unblock", "bank-3.example")).toEqual([{ host: "bank-3.example", changed: true }]);

  expect(await told("enable", "honest", "--note", "not a bank")).toEqual([{ code: "honest", changed: true }]);
  await untilAnswered(curt, "honest", 302);
  expect(await told("answer", "honest", "--action", "nothing")).toEqual([{ code: "honest", changed: true }]);
  expect(await told("answer", "bad7", "--action", "block-host", "--reason", "phishing")).toHaveLength(1);

  const [shown] = await told("show", "bad7");
  expect(shown).toMatchObject({
    code: "bad7",
    state: "disabled",
    reason: "phishing",
    blocked: "phishing",
    case: { state: "answered", notes: [{ note: "Fake!" }] },
    history: expect.arrayContaining([
      expect.objectContaining({ action: "disable", who: "shell", note: "campaign" }),
    ]),
  });
  const journal = await told("journal", "--limit", "500");
  expect(journal).toHaveLength(count + 5);
  expect(journal.every(({ who }) => who === "shell")).toBe(true);
  // Every door tells the same.
  const { data } = await askAs(curt)("GET", "journal?limit=200");
  expect(data.entries).toEqual(journal);
  expect((await told("figures"))[0]).toEqual((await askAs(curt)("GET", "figures")).data);
});

test("deleting for good needs --yes", async () => {
  await curt.shorten({ original_url: "https://example.com/", custom_code: "gone" });
  const refused = await admin("delete", "gone");
  expect([refused.code, refused.stdout, refused.stderr]).toEqual([
    1,
    "",
    "curt: this cannot be undone. Add --yes to delete gone\n",
  ]);
  expect((await curt.fetch("/gone")).status).toBe(302);
  // In a process of its own, as an operator runs it.
  const deleted = await run(["admin", "delete", "gone", "--yes"], settingsFor(curt.databaseUrl));
  expect(deleted).toEqual({ code: 0, stdout: "Done.\n", stderr: "" });
  await untilAnswered(curt, "gone", 410);
});

test("people get a table, in which nothing acts on their terminal", async () => {
  const original_url = "https://example.com/\u202Egnp.exe?[31m";
  await curt.shorten({ original_url, custom_code: "긴코드🏳️‍🌈" });
  await admin("disable", "긴코드🏳️‍🌈", "--reason", "other", "--note", "\u001B[31m\u202Ered\nline");
  const { stdout } = await admin("links", "--q", "긴코드");
  const [header = "", row = ""] = stdout.split("\n");
  expect(header).toMatch(/^CODE +STATE +REASON +CREATED +TARGET$/);
  expect(row).toMatch(/^긴코드🏳‍🌈 +disabled +other +\d{4}-\d\d-\d\d/);
  const places = (line: string, word: string) => Bun.stringWidth(line.slice(0, line.indexOf(word)));
  expect(places(row, "disabled")).toBe(places(header, "STATE"));
  for (const args of [
    ["show", "긴코드🏳️‍🌈"],
    ["journal"],
    ["show", "긴코드🏳️‍🌈", "--json"],
    ["cases"],
    ["figures"],
  ]) {
    const all = (await admin(...args)).stdout;
    expect(all).not.toMatch(/(?!\n)\p{Cc}|\p{Bidi_Control}/u);
    if (args[0] !== "cases" && args[0] !== "figures") expect(all).toContain(String.raw`\u202ered`);
  }
});

test("what is wrong is told, with an exit code", async () => {
  for (const [args, code, message] of [
    [["show", "nobody-made-it"], 1, en.unknown],
    [["disable", "nobody-made-it", "--reason", "spam"], 1, en.unknown],
    [["disable", "bad1"], 2, "admin disable needs --reason malware|phishing|spam|illegal|legal|other"],
    [["disable", "bad1", "--reason", "ugly"], 2, 'not "ugly"'],
    [["disable", "--reason", "spam"], 2, "admin disable needs CODE"],
    [["links", "--state", "tired"], 2, 'not "tired"'],
    [["links", "--host", "a/b"], 1, `host: ${en["host.invalid"]}`],
    [["links", "--from", "yesterday"], 1, "--from: "],
    [["links", "--limit", "0"], 1, "--limit must be a whole number"],
    [["block", "curt.example", "--reason", "spam"], 1, en["host.own"]],
    [["answer", "bad1", "--action", "disable"], 1, "reason: It must be one of malware, phishing,"],
    [["answer", "bad1", "--action", "nothing"], 1, en["operator.no-case"]],
    [["dance"], 2, 'there is no command "admin dance"'],
  ] as const) {
    const { code: exited, stdout, stderr } = await admin(...args);
    expect([args, exited, stdout]).toEqual([args, code, ""]);
    expect([args, stderr]).toEqual([args, expect.stringContaining(message)]);
  }
});

test("a store that is not there is not made: the settings are those of another place", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "data/curt.db");
  const { code, stdout, stderr } = await run(["admin", "links"], settingsFor(`sqlite:${file}`));
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toStartWith(`curt: there is no store at ${file}. Set DATABASE_URL`);
  expect(existsSync(file)).toBeFalse();
});
