import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { COMMANDS } from "../../src/cli/commands.ts";
import { runCommand } from "../cli/commands.ts";
import { ROOT, type Running, startHere } from "../service.ts";
import { addCampaign, report, TOKEN } from "./operator.ts";

const GUIDE = readFileSync(join(ROOT, "docs/admin.md"), "utf8");

/** The commands of the guide that begin with a word, in order, each on one line. */
function commandsOf(program: string): string[] {
  const blocks = [...GUIDE.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = ""]) =>
    block.replaceAll("\\\n", " "),
  );
  return blocks.flatMap((block) => block.split("\n")).filter((line) => line.startsWith(`${program} `));
}

/** What a shell passes to `curt`. */
function wordsOf(command: string): string[] {
  const { stdout } = Bun.spawnSync(["/bin/sh", "-c", `curt() { printf '%s\\n' "$@"; }; ${command}`]);
  return stdout.toString().trimEnd().split("\n");
}

async function prepare(): Promise<Running> {
  const curt = await startHere({ ADMIN_TOKEN: TOKEN });
  await addCampaign(curt);
  await report(curt, "bad7", { reason: "phishing" });
  return curt;
}

/** What a curl command of the guide does. */
async function perform(curt: Running, command: string): Promise<{ status: number; data: any }> {
  const [, method = "GET"] = /-X (\w+)/.exec(command) ?? [];
  const [, body] = /-d '([^']+)'/.exec(command) ?? [];
  const [, path = ""] = /'localhost:3000([^']+)'/.exec(command) ?? [];
  const headers = [...command.matchAll(/-H ["']([^:]+): ([^"']+)["']/g)].map(
    ([, name = "", value = ""]) => [name, value.replace("$ADMIN_TOKEN", TOKEN)] as [string, string],
  );
  const response = await curt.fetch(path, { method, headers, ...(body !== undefined && { body }) });
  return { status: response.status, data: ((await response.json()) as { data: unknown }).data };
}

test("the guide's evening with curl does what it says", async () => {
  await using curt = await prepare();
  const told: any[] = [];
  for (const command of commandsOf("curl")) {
    const { status, data } = await perform(curt, command);
    expect([command, status]).toEqual([command, 200]);
    told.push(data);
  }
  const [cases, link, found, asked, disabled, blocked, unblocked, enabled, answered, journal] = told;
  expect(cases.cases).toMatchObject([{ code: "bad7", state: "open" }]);
  expect(link.code).toBe("bad7");
  // A busy machine may not have come to them in the time of one request.
  expect(found.links.length > 0 || found.cursor !== null).toBeTrue();
  expect(asked).toEqual({ count: 60, done: false });
  expect(disabled).toEqual({ count: 60, done: true, changed: 60 });
  for (const one of [blocked, unblocked, enabled, answered]) expect(one.changed).toBe(true);
  expect(journal.entries).toHaveLength(20);
});

test("the guide's evening in the shell does what it says", async () => {
  await using curt = await prepare();
  const outputs: string[] = [];
  for (const command of commandsOf("curt")) {
    const { code, stdout, stderr } = await runCommand(wordsOf(command), { DATABASE_URL: curt.databaseUrl });
    expect([command, code, stderr.replace(/^There are more.*\n/, "")]).toEqual([command, 0, ""]);
    outputs.push(stdout);
  }
  expect(outputs[3]).toContain("Links found: 60. Nothing was changed.");
  expect(outputs[4]).toBe("Done. Links changed: 60 of 60.\n");
  expect(outputs.slice(5, 9)).toEqual(Array(4).fill("Done.\n"));
});

test("the guide names every command, and nothing that is not there", () => {
  const names = Object.keys(COMMANDS).filter((name) => name.startsWith("admin "));
  for (const name of names) expect(GUIDE).toContain(`| \`curt ${name}`);
  const named = [...GUIDE.matchAll(/curt (admin [\w-]+)/g)].map(([, name = ""]) => name);
  expect(new Set(named)).toEqual(new Set(names));
});
