import { expect, test } from "bun:test";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { DAY_MS } from "../../src/links/time.ts";
import { addressOf, scrapeUntil } from "../metrics/scrape.ts";
import {
  type Program,
  type Settings,
  startProgram,
  temporaryFolder,
  untilLogged,
  PROGRAM,
} from "../support/service.ts";

const original_url = "https://example.com/";

/** Starts the program on clocks that the test sets: both read their offsets from a file. It repeats its work sooner. */
export async function startWithClock(folder: string, settings: Settings = {}, wallAheadMs = 0) {
  const offset = join(folder, "offset-ms");
  const preload = join(folder, "clock.ts");
  /** Sets the wall clock: in one step, because the program may read the file at any moment. */
  function setWall(wallMs: number, passedMs: number): void {
    writeFileSync(`${offset}.new`, JSON.stringify([wallMs, passedMs]));
    renameSync(`${offset}.new`, offset);
  }
  setWall(wallAheadMs, 0);
  writeFileSync(
    preload,
    `import { readFileSync } from "node:fs";
     const [wall, monotonic] = [Date.now, performance.now.bind(performance)];
     const offsets = () => JSON.parse(readFileSync(${JSON.stringify(offset)}, "utf8"));
     Date.now = () => wall() + offsets()[0];
     performance.now = () => monotonic() + offsets()[1];
     const every = setInterval;
     globalThis.setInterval = (job, ms, ...rest) => every(job, Math.min(ms, 200), ...rest);`,
  );
  const command = [process.execPath, "--preload", preload, PROGRAM, "serve"];
  const program = await startProgram({ CODE_HOLD: "2d", ...settings }, { folder, command });
  /** Advances both clocks. */
  const pass = (ms: number) => setWall(ms, ms);
  /** Runs another command of the program with the same clocks, and resolves with its exit code. */
  const run = (...args: string[]) =>
    Bun.spawn([...command.slice(0, -1), ...args], {
      env: { ...process.env, DATABASE_URL: program.databaseUrl },
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore",
    }).exited;
  return { program, pass, setWall, run };
}

/** Statuses of several requests, each over its own connection, so that every process gets some. */
async function statusesOf(program: Program, path: string): Promise<Set<number>> {
  const request = () => program.fetch(path, { headers: { Connection: "close" } });
  const responses = await Promise.all(Array.from({ length: 30 }, request));
  return new Set(responses.map(({ status }) => status));
}

/** Waits until each process has logged `text`, once. */
async function untilEachLogs(program: Program, text: string, processes: string): Promise<void> {
  await untilLogged(program, text, Number(processes));
  expect(program.logged.filter((line) => line.includes(text))).toHaveLength(Number(processes));
}

/** Tests the effects of a wrong clock on `processes` processes. */
export function testWrongClock(processes: string): void {
  test(`PROCESSES=${processes}: a jump of the clock causes a warning and a metric, and ends links only until the clock is right`, async () => {
    using folder = temporaryFolder();
    const { program, setWall } = await startWithClock(folder.path, {
      PROCESSES: processes,
      METRICS_PORT: "0",
    });
    await using _ = program;
    const metrics = await addressOf(program);
    const untilTrusted = (trusted: number) =>
      scrapeUntil(metrics, `trusted: ${trusted}`, ({ of }) => of("curt_clock_trusted") === trusted);
    await untilTrusted(1);
    await program.shorten({ original_url, custom_code: "day", expire_duration: "24h" });
    await program.shorten({ original_url, custom_code: "week", expire_duration: "1week" });
    expect(await statusesOf(program, "/day")).toEqual(new Set([302]));
    setWall(2 * DAY_MS, 0);
    expect(await statusesOf(program, "/day")).toEqual(new Set([410]));
    await untilEachLogs(program, "the clock has jumped", processes);
    await untilTrusted(0);
    setWall(400 * DAY_MS, 0);
    expect((await program.shorten({ original_url, custom_code: "week" })).status).toBe(409);
    setWall(0, 0);
    await untilEachLogs(program, "the clock is trusted again", processes);
    await untilTrusted(1);
    for (const path of ["/day", "/week"]) expect(await statusesOf(program, path)).toEqual(new Set([302]));
    const response = await program.shorten({ original_url, expire_duration: "24h" });
    const { data } = (await response.json()) as { data: { expiration_date: string } };
    expect(Date.parse(data.expiration_date)).toBeLessThan(Date.now() + DAY_MS + 1000);
    expect(program.logged.filter((line) => line.includes("purged"))).toEqual([]);
  });

  test(`PROCESSES=${processes}: a jump of the clock starts a link only until the clock is right`, async () => {
    using folder = temporaryFolder();
    const { program, setWall } = await startWithClock(folder.path, { PROCESSES: processes });
    await using _ = program;
    const { status } = await program.fetch("/api/v1/links", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ target: original_url, code: "tomorrow", starts_at: "24h" }),
    });
    expect(status).toBe(201);
    expect(await statusesOf(program, "/tomorrow")).toEqual(new Set([404]));
    setWall(2 * DAY_MS, 0);
    for (const path of ["/tomorrow", "/tomorrow+"])
      expect(await statusesOf(program, path), path).toEqual(new Set([path.endsWith("+") ? 200 : 302]));
    setWall(0, 0);
    for (const path of ["/tomorrow", "/tomorrow+"])
      expect(await statusesOf(program, path), path).toEqual(new Set([404]));
  });

  test(`PROCESSES=${processes}: a start with a clock far ahead deletes nothing until the clock is right or trusted`, async () => {
    using folder = temporaryFolder();
    const settings = { PROCESSES: processes };
    {
      await using program = await startProgram({}, { folder: folder.path });
      await program.shorten({ original_url, custom_code: "held", expire_duration: "24h" });
      await program.shorten({ original_url, custom_code: "kept", expire_duration: "1month" });
    }
    {
      const { program, setWall } = await startWithClock(folder.path, settings, 400 * DAY_MS);
      await using _ = program;
      await untilEachLogs(program, "the clock is more than a month ahead", processes);
      expect((await program.shorten({ original_url, custom_code: "held" })).status).toBe(409);
      expect((await program.shorten({ original_url, custom_code: "misdated" })).status).toBe(201);
      setWall(0, 0);
      await untilEachLogs(program, "the clock is trusted again", processes);
      for (const path of ["/held", "/kept"]) expect(await statusesOf(program, path)).toEqual(new Set([302]));
    }
    // Another start is no confirmation, even though the wrong clock has dated links.
    const { program, run } = await startWithClock(folder.path, settings, 400 * DAY_MS);
    await untilEachLogs(program, "the clock is more than a month ahead", processes);
    expect((await program.shorten({ original_url, custom_code: "held" })).status).toBe(409);
    expect(program.logged.filter((line) => line.includes("purged"))).toEqual([]);
    // Without a terminal, it can't ask whether the time is right.
    expect(await run("trust-clock")).toBe(2);
    expect(await run("trust-clock", "--yes")).toBe(0);
    await program[Symbol.asyncDispose]();
    const trusting = await startWithClock(folder.path, settings, 400 * DAY_MS);
    await using _ = trusting.program;
    expect((await trusting.program.shorten({ original_url, custom_code: "held" })).status).toBe(201);
    expect(
      trusting.program.logged.filter((line) => line.includes("the clock is more than a month ahead")),
    ).toEqual([]);
  });
}
