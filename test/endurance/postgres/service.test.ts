import { afterAll, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";

import { openDatabase } from "../../../src/store/postgres/connection/database.ts";
import { PASSWORD, startPostgres, USER } from "../../support/postgres.ts";
import { startProxy } from "../../support/proxy.ts";
import { sendUntilTaken } from "../../support/retry.ts";
import {
  BASE_URL,
  disableLink,
  ROOT,
  type RunningService,
  type Settings,
  startService,
  temporaryFolder,
  untilLogged,
  PROGRAM,
} from "../../support/service.ts";
import { untilCounted, visit } from "../../visits/visits.ts";

const server = await startPostgres();
afterAll(() => server[Symbol.asyncDispose]());

const TARGET = "https://example.com/";
const MAX_WAITS = 24_000;

async function settingsOf(name: string): Promise<Settings> {
  return { DATABASE_URL: await server.url(name) };
}

async function until(what: () => Promise<boolean>): Promise<void> {
  for (let waits = 0; !(await what()); waits++) {
    if (waits > MAX_WAITS) throw new Error("waited too long");
    await Bun.sleep(5);
  }
}

/** Runs the program until it ends by itself. */
async function end(settings: Settings, ...words: string[]) {
  using folder = temporaryFolder();
  const child = Bun.spawn([process.execPath, PROGRAM, ...words], {
    cwd: ROOT,
    env: { ...process.env, PORT: "0", BASE_URL, DATA_DIR: folder.path, ...settings },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [code, stdout, stderr] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()]);
  return { code, stdout, stderr };
}

test("a link that one instance disables gets 410 from another", async () => {
  const settings = await settingsOf("takedown");
  await using one = await startService(settings);
  await using two = await startService(settings);
  await one.shorten({ original_url: TARGET, custom_code: "bad" });
  for (const instance of [one, two]) await visit(instance, "bad");
  await disableLink(one, "bad", "phishing");
  for (const instance of [one, two]) await until(async () => (await instance.fetch("/bad")).status === 410);
});

describe("a database that cannot be used", () => {
  test.each([
    [
      "the password is wrong",
      `:${PASSWORD}@`,
      ":not-it@",
      /cannot be used: .*password authentication failed/,
    ],
    ["there is no such database", "/refused", "/missing", /cannot be used: .*"missing" does not exist/],
  ])("stops serve and check with exit code 1 if %s", async (_, right, wrong, message) => {
    const { DATABASE_URL = "" } = await settingsOf("refused");
    const settings = { DATABASE_URL: DATABASE_URL.replace(right, wrong) };
    for (const command of ["serve", "check"]) {
      const { code, stderr } = await end(settings, command);
      expect([command, code, stderr]).toEqual([command, 1, expect.stringMatching(message)]);
      expect(stderr).toStartWith("curt: postgres://curt@127.0.0.1:");
      expect(stderr).not.toMatch(/not-it|secret/);
    }
  });

  test.each([
    ["a password is missing", {}, /^curt: postgres:.* asks for a password, .*DATABASE_PASSWORD_FILE/],
    [
      "the file with it cannot be read",
      { DATABASE_PASSWORD_FILE: "/missing" },
      /^curt: DATABASE_PASSWORD_FILE .*\/missing/,
    ],
  ])("stops serve and check with exit code 2 if %s", async (_, settings, message) => {
    const DATABASE_URL = (await server.url("refused")).replace(`:${PASSWORD}@`, "@");
    for (const [command, PROCESSES] of [
      ["serve", "1"],
      ["serve", "2"],
      ["check", "1"],
    ] as const) {
      const { code, stderr } = await end({ DATABASE_URL, PROCESSES, ...settings }, command);
      expect([command, code, stderr]).toEqual([command, 2, expect.stringMatching(message)]);
    }
  });

  test.each([
    [
      "it has another program's tables",
      "CREATE TABLE curt (x int)",
      /cannot be used: column "version" does not/,
    ],
    [
      "no schema can be used",
      "ALTER ROLE CURRENT_USER IN DATABASE unusable SET search_path = ''",
      /cannot be used: no schema/,
    ],
  ])("stops serve with exit code 1 if %s", async (_, cause, message) => {
    const settings = await settingsOf("unusable");
    const database = openDatabase(await server.address("unusable"));
    await database.run(cause);
    await database.close();
    const { code, stderr } = await end(settings, "serve");
    expect([code, stderr]).toEqual([1, expect.stringMatching(message)]);
    expect(stderr).toStartWith("curt: postgres://curt@127.0.0.1:");
  });

  test("stops serve and check if its encoding isn't UTF-8", async () => {
    await server.query(
      "CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0",
    );
    const settings = { DATABASE_URL: (await server.url("refused")).replace("/refused", "/latin") };
    for (const command of ["serve", "check"])
      expect(await end(settings, command)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("has the encoding LATIN1"),
      });
  });

  test("stops serve and check if a newer Curt has created it, and export if it has no store", async () => {
    const settings = await settingsOf("newer");
    const missing = await end(settings, "export", "-");
    expect([missing.code, missing.stderr]).toEqual([
      1,
      expect.stringContaining("there is no store at postgres://"),
    ]);
    expect((await end(settings, "check")).stdout).toContain("does not exist yet");
    await using first = await startService(settings);
    await first.shorten({ original_url: TARGET });
    expect((await end(settings, "check")).stdout).toMatch(
      /store: fine \(1 link in postgres:\/\/curt@[^:]+:\d+\/newer\)/,
    );
    const database = openDatabase(await server.address("newer"));
    await database.run("UPDATE curt SET version = 99");
    await database.close();
    for (const command of ["serve", "check"])
      expect(await end(settings, command)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("has schema 99, created by a newer Curt"),
      });
  });
});

describe("an unavailable database", () => {
  const readiness = async (curt: RunningService) => (await curt.fetch("/readyz")).status;

  test("delays a start until it answers", async () => {
    await using away = await startPostgres();
    const settings = { DATABASE_URL: await away.url("away") };
    await away.kill();
    const logged: string[] = [];
    const starting = startService(settings, { logged });
    await untilLogged({ logged }, "waiting for it");
    await away.restart();
    await using curt = await starting;
    expect(await readiness(curt)).toBe(200);
    await untilLogged({ logged }, "answers again");
  });

  test("leaves cached links redirecting, and all visits count once it is back", async () => {
    await using away = await startPostgres();
    await using curt = await startService({ DATABASE_URL: await away.url("away") });
    await curt.shorten({ original_url: TARGET, custom_code: "known" });
    await curt.shorten({ original_url: TARGET, custom_code: "unknown" });
    await visit(curt, "known");
    await away.kill();
    curt.expectFaults();
    await until(async () => (await readiness(curt)) === 503);
    for (let nth = 0; nth < 10; nth++) await visit(curt, "known");
    for (const path of ["/unknown", "/nothing", "/api/v1/links/known"]) {
      const { status, headers } = await curt.fetch(path);
      expect([path, status, headers.has("retry-after")]).toEqual([path, 503, true]);
    }
    expect((await curt.shorten({ original_url: TARGET })).status).toBe(503);
    await away.restart();
    await until(async () => (await readiness(curt)) === 200);
    await until(async () => (await curt.fetch("/unknown")).status === 302);
    // The views thread has connections of its own.
    await until(async () => (await curt.fetch("/api/v1/links/known")).status === 200);
    expect((await sendUntilTaken(() => curt.fetch("/nothing"))).status).toBe(404);
    await untilCounted(curt, "known", 11);
    await untilLogged(curt, "the database answers again");
    const lines = curt.logged.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.filter(({ msg }) => msg === "the database answers again")).toMatchObject([
      { level: "info", primary: `127.0.0.1:${away.port}`, trouble: expect.stringContaining("No server") },
    ]);
    const messages = lines.map(({ msg }) => msg);
    const back = messages.indexOf("the database answers again");
    expect(messages.indexOf("the store cannot answer")).toBeWithin(0, back);
    expect(messages.lastIndexOf("the store cannot answer")).toBeLessThan(back);
    // Repeated faults are only counted, because changes are read several times a second.
    expect(lines.slice(0, back).some(({ times }) => times !== undefined)).toBeTrue();
  });

  test("with a missing password gets at most two connections more than DATABASE_POOL, and the log says why", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "password");
    await Bun.write(file, PASSWORD);
    await server.url("unread");
    await using proxy = await startProxy(server.port);
    await using curt = await startService({
      DATABASE_URL: `postgres://${USER}@127.0.0.1:${proxy.port}/unread`,
      DATABASE_PASSWORD_FILE: file,
      DATABASE_POOL: "4",
    });
    curt.expectFaults();
    /** Creates, look-ups and statistics, for which the views thread has connections of its own. */
    const use = () =>
      Promise.all(
        Array.from({ length: 20 }, async (_, nth) => {
          await curt.shorten({ original_url: TARGET, custom_code: `link${nth}` });
          await curt.fetch(`/nothing${nth}`);
          await curt.fetch(`/api/v1/links/link${nth}/stats`);
          expect(proxy.open).toBeLessThanOrEqual(4 + 2);
        }),
      );
    await until(async () => (await use(), proxy.open > 4));
    rmSync(file);
    proxy.reset();
    for (let nth = 0; nth < 20; nth++) await use();
    expect(proxy.open).toBe(0);
    await untilLogged(curt, "DATABASE_PASSWORD_FILE cannot be read");
    await Bun.write(file, "wrong");
    const before = proxy.accepted;
    await until(async () => (await use(), proxy.accepted > before + 12));
    await Bun.write(file, PASSWORD);
    await until(async () => (await use(), (await readiness(curt)) === 200));
    await use();
  });
});
