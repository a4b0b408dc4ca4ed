import { afterEach, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";

import {
  all,
  started,
  children,
  childrenOf,
  hasStarted,
  isAlive,
  killStarted,
  linesThatSay,
  open,
  openEach,
  PROCESSES,
  startSeveral,
  TARGET,
  until,
} from "../../server/processes.ts";
import { testOnLinux } from "../../support/linux.ts";
import { temporaryFolder } from "../../support/service.ts";

afterEach(killStarted);

/** Usually a second. A process that misses ten is killed, so a busy machine needs beats that aren't much shorter. */
const SOONER_BEAT_MS = 400;

describe("a hung process", () => {
  test("is killed and replaced, and the others keep serving", async () => {
    using folder = temporaryFolder();
    await using program = await startSeveral({}, { folder: folder.path, roundMs: SOONER_BEAT_MS });
    const codes = Array.from({ length: 20 }, (_, nth) => `link${nth}`);
    for (const custom_code of codes) await program.shorten({ original_url: TARGET, custom_code });
    const [hung = 0, ...others] = children(program);
    using connections = await openEach(program, others);
    process.kill(hung, "SIGSTOP");
    for (const code of codes)
      expect(await connections.get(`/${code}`)).toEqual(
        others.map(() => ({ status: 302, location: TARGET })),
      );
    const { child: replacement = 0 } = await until(
      "another takes its place",
      () => linesThatSay(program, "another process replaced it")[0],
    );
    started.add(replacement);
    expect(linesThatSay(program, "is hung")).toContainEqual(expect.objectContaining({ child: hung }));
    expect(linesThatSay(program, "a process ended")).toMatchObject([{ child: hung, signal: "SIGKILL" }]);
    using back = await openEach(program, [replacement, ...others]);
    for (const code of codes)
      expect(await back.get(`/${code}`)).toEqual(all({ status: 302, location: TARGET }));
  });

  test("is killed during a stop without a second signal", async () => {
    using folder = temporaryFolder();
    await using program = await startSeveral({}, { folder: folder.path, roundMs: SOONER_BEAT_MS });
    const [hung = 0] = children(program);
    process.kill(hung, "SIGSTOP");
    program.kill("SIGTERM");
    expect(await program.exited).toBe(1);
    expect(linesThatSay(program, "is hung")).toContainEqual(expect.objectContaining({ child: hung }));
    expect(children(program).filter(isAlive)).toEqual([]);
  });

  testOnLinux("is killed during a stop before it listens", async () => {
    using folder = temporaryFolder();
    await using program = await startSeveral({}, { folder: folder.path, roundMs: SOONER_BEAT_MS });
    const [replaced = 0, ...others] = children(program);
    process.kill(replaced, "SIGKILL");
    const hung = await until("another is started", () =>
      childrenOf(program.pid).find((pid) => ![replaced, ...others].includes(pid) && hasStarted(pid)),
    );
    started.add(hung);
    process.kill(hung, "SIGSTOP");
    program.kill("SIGTERM");
    expect(await program.exited).toBe(1);
    expect(linesThatSay(program, "another process replaced it")).toEqual([]);
    expect(linesThatSay(program, "is hung")).toContainEqual(expect.objectContaining({ child: hung }));
    expect([hung, ...others].filter(isAlive)).toEqual([]);
  });

  test("isn't confused with an idle one, one whose supervisor hung, or one that stops slowly", async () => {
    using folder = temporaryFolder();
    const options = { folder: folder.path, roundMs: SOONER_BEAT_MS, holdsDrain: true };
    await using program = await startSeveral({}, options);
    process.kill(program.pid, "SIGSTOP");
    await Bun.sleep(12 * SOONER_BEAT_MS);
    process.kill(program.pid, "SIGCONT");
    await Bun.sleep(2 * SOONER_BEAT_MS);
    expect(children(program).every(isAlive)).toBeTrue();
    program.kill("SIGTERM");
    await Bun.sleep(12 * SOONER_BEAT_MS);
    program.endDrain();
    expect(await program.exited).toBe(0);
    expect(linesThatSay(program, "is hung")).toEqual([]);
  });
});

describe("several processes", () => {
  testOnLinux("a killed process is replaced, and the others keep serving", async () => {
    await using program = await startSeveral();
    await program.shorten({ original_url: TARGET, custom_code: "abc" });
    const [killed = 0, ...others] = children(program);
    using connections = await openEach(program, others);
    process.kill(killed, "SIGKILL");
    // Requests on its connections are lost. Once its end is logged, it gets no new ones.
    await until("it is gone", () => linesThatSay(program, "a process ended").length > 0);
    expect(await connections.get("/abc")).toEqual(others.map(() => ({ status: 302, location: TARGET })));
    const { child: replacement = 0 } = await until("another takes its place", async () => {
      using connection = open(program.origin);
      expect((await connection.request("GET", "/abc")).status).toBe(302);
      return linesThatSay(program, "another process replaced it")[0];
    });
    started.add(replacement);
    using back = await openEach(program, [replacement, ...others]);
    expect(await back.get("/abc")).toEqual(all({ status: 302, location: TARGET }));
    program.kill("SIGTERM");
    expect(await program.exited).toBe(0);
    expect([replacement, ...others].filter(isAlive)).toEqual([]);
  });

  testOnLinux("a killed supervisor leaves no process behind, and the store intact", async () => {
    using folder = temporaryFolder();
    await using program = await startSeveral({}, { folder: folder.path });
    using _ = await openEach(program, children(program));
    program.kill("SIGKILL");
    // Resolves once the children have closed the output as well.
    expect(await program.exited).not.toBe(0);
    await until("its children are gone", () => !children(program).some(isAlive));
    expect(linesThatSay(program, "stopping")).toHaveLength(PROCESSES);
    expect(existsSync(`${program.file}-wal`)).toBeFalse();
    expect(await fetch(program.origin).catch(() => "refused")).toBe("refused");
  });
});
