import { afterEach, describe, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { readConfig } from "../../src/config/config.ts";
import { readAllTokens } from "../../src/moderation/access-tokens.ts";
import { sendForm } from "../http/markup.ts";
import { beginRequest } from "../http/raw.ts";
import { type Program, startProgram, temporaryFolder } from "../support/service.ts";
import { startSeveral, children, killStarted, linesThatSay, until } from "./processes.ts";

const ALICE = "alice-knows-this-secret";
const BOB = "bob-knows-another-secret";
const FEED = "only-for-creating-links";

afterEach(killStarted);

function startWithFiles(start: (settings: Record<string, string>) => Promise<Program>) {
  const folder = temporaryFolder();
  const [admin, create] = [join(folder.path, "admin"), join(folder.path, "create")];
  const write = (file: string, ...tokens: string[]) => writeFileSync(file, `${tokens.join("\n")}\n`);
  write(admin, `alice:${ALICE}`, `bob:${BOB}`);
  write(create, `feed:${FEED}`);
  return {
    folder,
    admin,
    create,
    write,
    program: start({ ADMIN_TOKEN_FILE: admin, CREATE_TOKEN_FILE: create }),
  };
}

/** Sends SIGHUP, and waits until this many processes have read the files again, or have refused one. */
async function hangUp(program: Program, processes = 1): Promise<void> {
  const messages = ["read the files of tokens again", "the former tokens remain"];
  const read = () => messages.flatMap((message) => linesThatSay(program, message)).length;
  const before = read();
  program.kill("SIGHUP");
  await until("the files are read", () => read() === before + processes);
}

/** The statuses of many connections, so that every process answers some. */
async function statusesOf(
  program: Program,
  sent: Record<string, string>,
  path = "/api/v1/admin/journal",
): Promise<Set<number>> {
  const statuses = new Set<number>();
  const headers = { ...sent, Connection: "close" };
  for (let nth = 0; nth < 24; nth++) statuses.add((await program.fetch(path, { headers })).status);
  return statuses;
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

async function signIn(program: Program, token: string): Promise<Record<string, string>> {
  const response = await sendForm(program, "/admin", { token });
  return { Cookie: /operator=[^;]+/.exec(response.headers.get("set-cookie") ?? "")?.[0] ?? "" };
}

test("a start refuses files that share a secret", async () => {
  const { folder, admin, create, write, program: starting } = startWithFiles(startProgram);
  using _ = folder;
  await (await starting)[Symbol.asyncDispose]();
  const config = readConfig({ ADMIN_TOKEN_FILE: admin, CREATE_TOKEN_FILE: create });
  expect(readAllTokens(config).create).toEqual([{ name: "feed", secret: FEED }]);
  write(create, `feed:${ALICE}`);
  expect(() => readAllTokens(config)).toThrow("must not share a secret");
});

describe("SIGHUP", () => {
  test("ends the access of a removed operator, and the sessions, in every process", async () => {
    const { folder, admin, write, program: starting } = startWithFiles(startSeveral);
    using _ = folder;
    await using program = await starting;
    const [ofAlice, ofBob] = [await signIn(program, ALICE), await signIn(program, BOB)];
    expect(await statusesOf(program, ofBob, "/admin")).toEqual(new Set([200]));
    write(admin, `alice:${ALICE}`);
    expect(await statusesOf(program, bearer(BOB))).toEqual(new Set([200]));
    await hangUp(program, children(program).length);
    expect(await statusesOf(program, bearer(BOB))).not.toContain(200);
    expect(await statusesOf(program, ofBob, "/admin")).toEqual(new Set([401]));
    expect(await statusesOf(program, bearer(ALICE))).toEqual(new Set([200]));
    expect(await statusesOf(program, ofAlice, "/admin")).toEqual(new Set([200]));
    expect(program.logged.join("")).not.toMatch(new RegExp(`${ALICE}|${BOB}|${FEED}`));
  });

  test("lets new tokens in, keeps those of a wrong file, and lets nobody in with an empty one", async () => {
    const { folder, admin, create, write, program: starting } = startWithFiles(startProgram);
    using _ = folder;
    await using program = await starting;
    const shorten = async (token: string) =>
      (await program.shorten({ original_url: "https://example.com/" }, bearer(token))).status;
    program.expectFaults();
    write(create, `feed:${FEED}x`);
    write(admin, `alice:${ALICE}`, "bob:short");
    await hangUp(program);
    expect([await shorten(FEED), await shorten(`${FEED}x`)]).toEqual([401, 201]);
    expect(await statusesOf(program, bearer(BOB))).toEqual(new Set([200]));
    expect(linesThatSay(program, "a file of tokens is wrong")).toEqual([
      expect.objectContaining({ mistakes: [expect.stringContaining('not "(9 characters)"')] }),
    ]);
    rmSync(admin);
    write(create);
    await hangUp(program);
    expect(await shorten(`${FEED}x`)).toBe(401);
    expect(await statusesOf(program, bearer(BOB))).toEqual(new Set([200]));
    write(admin);
    await hangUp(program);
    expect(await statusesOf(program, bearer(ALICE))).not.toContain(200);
    expect((await program.fetch("/admin")).status).toBe(401);
  });

  test("refuses a request whose body ends after its token was removed", async () => {
    const { folder, admin, create, write, program: starting } = startWithFiles(startProgram);
    using _ = folder;
    await using program = await starting;
    const session = await signIn(program, BOB);
    const json = JSON.stringify({
      reason: "spam",
      original_url: "https://example.com/",
      target: "https://example.com/",
    });
    const requests = [
      ["PUT /api/v1/admin/hosts/evil.example", bearer(BOB), json],
      ["POST /api/v1/shorten", bearer(FEED), json],
      ["POST /api/v1/links/batch", bearer(FEED), `[${json}]`],
      [
        "POST /admin/hosts",
        { ...session, "Content-Type": "application/x-www-form-urlencoded" },
        "host=a.example",
      ],
    ] as const;
    const open = requests.map(([line, headers, body]) => beginRequest(program, line, headers, body));
    await Promise.all(open.map(({ hasStarted }) => hasStarted));
    write(admin, `alice:${ALICE}`);
    write(create, `feed:${FEED}x`);
    await hangUp(program);
    const statuses = await Promise.all(open.map(({ end }) => end()));
    expect(statuses).toEqual([401, 401, 401, 303]);
    const hosts = (await (
      await program.fetch("/api/v1/admin/hosts", { headers: bearer(ALICE) })
    ).json()) as any;
    expect(hosts.data.hosts).toEqual([]);
  });
});
