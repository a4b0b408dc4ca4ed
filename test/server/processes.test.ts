import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Target } from "../../src/links/target.ts";
import { createAccessTokens } from "../../src/moderation/access-tokens.ts";
import { checkStore } from "../../src/store/open.ts";
import { newLink } from "../stores/links.ts";
import { freePort } from "../support/free-port.ts";
import { testOnLinux } from "../support/linux.ts";
import { callApi, createManagedLink } from "../support/managed-links.ts";
import {
  openStoreOf,
  type Program,
  type RunningService,
  startService,
  temporaryFolder,
  PROGRAM,
} from "../support/service.ts";
import {
  all,
  started,
  children,
  create,
  isAlive,
  killStarted,
  linesThatSay,
  listeners,
  openEach,
  PROCESSES,
  refused,
  startSeveral,
  TARGET,
  until,
} from "./processes.ts";

const ADMIN_TOKEN = "only-the-operator-knows-it";

afterEach(killStarted);

describe("several processes", () => {
  let program: Program;
  beforeAll(async () => {
    program = await startSeveral({ CODE_HOLD: "0s", ADMIN_TOKEN });
    // The program serves several tests.
    started.clear();
  });
  afterAll(() => program[Symbol.asyncDispose]());

  testOnLinux("log once that they listen, after all do", async () => {
    expect(listeners(program.origin)).toBe(PROCESSES);
    expect(linesThatSay(program, "listens on")).toEqual([
      expect.objectContaining({
        pid: program.pid,
        msg: expect.stringMatching(/^Curt .+ listens on http:\S+ in 3 processes and creates links at .+$/),
      }),
    ]);
    expect(new Set(children(program)).size).toBe(PROCESSES);
    expect(children(program)).not.toContain(program.pid);
    for (const pid of children(program)) expect(isAlive(pid)).toBeTrue();
  });

  testOnLinux("share the port, and a link of one redirects immediately in all", async () => {
    using connections = await openEach(program, children(program));
    for (const [nth, pid] of children(program).entries()) {
      const code = `created-by-${nth}`;
      expect(await connections.get(`/${code}`)).toEqual(all({ status: 404 }));
      expect(
        (await connections.of(pid).request("POST", "/api/v1/shorten", create(code, `${TARGET}${nth}`)))
          .status,
      ).toBe(201);
      expect(await connections.get(`/${code}`)).toEqual(all({ status: 302, location: `${TARGET}${nth}` }));
    }
  });

  test("say of all but one of simultaneous creates with one key that they are replayed", async () => {
    for (let round = 0; round < 20; round++) {
      const headers = { "Idempotency-Key": `simultaneous-creates-${round}` };
      const body = JSON.stringify({ target: TARGET });
      const send = () => program.fetch("/api/v1/links", { method: "POST", headers, body, keepalive: false });
      const responses = await Promise.all(Array.from({ length: PROCESSES * 2 }, send));
      const first = responses.filter((response) => response.headers.get("idempotent-replayed") === null);
      expect([responses.every(({ status }) => status === 201), first.length]).toEqual([true, 1]);
    }
  });

  testOnLinux("refuse an operator's session after a sign-out in one of them", async () => {
    using connections = await openEach(program, children(program));
    const token = { secret: ADMIN_TOKEN };
    const startSession = (nowMs: number) => createAccessTokens([token]).startSession(token, nowMs);
    const [copy, other] = [startSession(Date.now()), startSession(Date.now())];
    expect(await connections.get("/admin", `operator=${copy}`)).toEqual(all({ status: 200 }));
    const [first = 0] = children(program);
    await connections.of(first).request("POST", "/admin/sign-out", "", `operator=${copy}`);
    expect(await connections.get("/admin", `operator=${copy}`)).toEqual(all({ status: 401 }));
    expect(await connections.get("/admin", `operator=${other}`)).toEqual(all({ status: 200 }));
  });

  testOnLinux("follow changes of forward_query in one of them", async () => {
    using connections = await openEach(program, children(program));
    const { code, path, key } = await createManagedLink(program, { target: TARGET });
    const redirectsTo = (location: string) => async () =>
      Bun.deepEquals(await connections.get(`/${code}?utm=1`), all({ status: 302, location }));
    await until("all have the link", redirectsTo(TARGET));
    for (const forward_query of [true, false, true]) {
      const { status } = await callApi(program, "PATCH", path, { key, body: { forward_query } });
      expect(status).toBe(200);
      await until("all notice", redirectsTo(forward_query ? `${TARGET}?utm=1` : TARGET));
    }
  });

  testOnLinux(
    "redirect a reused code to its new link, even if each had the old one in its cache",
    async () => {
      using connections = await openEach(program, children(program));
      await using store = await openStoreOf(program);
      const old = all({ status: 302, location: "https://example.com/old" });
      let code = "";
      // Retry with a longer life until every process had a request before the link ended.
      for (const lifeMs of [1000, 4000, 16_000]) {
        code = `brief-${lifeMs}`;
        const createdMs = Date.now();
        const target = "https://example.com/old" as Target;
        await store.insert([newLink(code, { target, createdMs, endsMs: createdMs + lifeMs })]);
        if (Bun.deepEquals(await connections.get(`/${code}`), old)) break;
      }
      await until("the link has ended", async () => (await program.fetch(`/${code}`)).status === 404);
      expect(await connections.get(`/${code}`)).toEqual(all({ status: 404 }));
      const [first = 0] = children(program);
      expect(
        await connections
          .of(first)
          .request("POST", "/api/v1/shorten", create(code, "https://example.com/new")),
      ).toMatchObject({ status: 201 });
      expect(await connections.get(`/${code}`)).toEqual(
        all({ status: 302, location: "https://example.com/new" }),
      );
    },
  );
});

describe("a signal to the supervisor", () => {
  test("stops all processes without losing a request of a steady load", async () => {
    using folder = temporaryFolder();
    await using program = await startSeveral({}, { folder: folder.path, holdsDrain: true });
    await program.shorten({ original_url: TARGET, custom_code: "abc" });
    const statuses: unknown[] = [];
    const stopping = new AbortController();
    const lost = () => ({ status: "lost" });
    const clients = Array.from({ length: 8 }, async (_, client) => {
      // Every client continues for a while after the signal.
      for (let nth = 0, late = 0; late < 4; nth++) {
        if (stopping.signal.aborted) late++;
        const custom_code = `c-${client}-${nth}`;
        statuses.push((await program.fetch("/abc").catch(lost)).status);
        statuses.push((await program.shorten({ original_url: TARGET, custom_code }).catch(lost)).status);
      }
    });
    await until("the load has started", () => statuses.length > 100);
    program.kill("SIGTERM");
    await until("all are stopping", () => linesThatSay(program, "stopping").length === 1 + PROCESSES);
    stopping.abort();
    await Promise.all(clients);
    program.endDrain();
    expect(await program.exited).toBe(0);
    expect(new Set(statuses)).toEqual(new Set([302, 201]));
    expect(linesThatSay(program, "stopping")).toHaveLength(1 + PROCESSES);
    expect(children(program).filter(isAlive)).toEqual([]);
    expect(existsSync(`${program.file}-wal`)).toBeFalse();
    expect(await checkStore(program.database)).toEqual({
      links: 1 + statuses.filter((status) => status === 201).length,
      damage: [],
      unsendable: [],
    });
  });

  test("stops all once, even if the children get it as well, as from a terminal", async () => {
    await using program = await startSeveral({ DRAIN_WAIT: "1s" });
    for (const pid of [...children(program), program.pid]) process.kill(pid, "SIGINT");
    expect(await program.exited).toBe(0);
    expect(children(program).filter(isAlive)).toEqual([]);
  });

  test("stops a child that has just started, without a failure", async () => {
    using folder = temporaryFolder();
    const preload = join(folder.path, "slow.ts");
    const born = join(folder.path, "born");
    writeFileSync(
      preload,
      `import { writeFileSync } from "node:fs";
       if (Bun.isMainThread && process.argv.includes("child")) {
         writeFileSync(${JSON.stringify(born)}, String(process.pid), { flush: true });
         Bun.sleepSync(60_000);
       }`,
    );
    const parent = Bun.spawn([process.execPath, "--preload", preload, PROGRAM, "serve"], {
      env: {
        ...process.env,
        PROCESSES: "2",
        PORT: "0",
        BASE_URL: "https://curt.example",
        DATABASE_URL: `sqlite:${join(folder.path, "curt.db")}`,
      },
      stdout: "pipe",
    });
    started.add(parent.pid);
    const child = await until(
      "a child has started",
      () => existsSync(born) && (Number(readFileSync(born)) || undefined),
    );
    started.add(child);
    for (const pid of [parent.pid, child]) process.kill(pid, "SIGTERM");
    expect(await parent.exited).toBe(0);
    const messages = [...(await parent.stdout.text()).matchAll(/"msg":"(.*)"/g)].map(
      ([, message]) => message,
    );
    // The children may have ended before the parent handles its signal; then there is nothing to stop.
    expect(messages.filter((message) => message !== "stopping")).toEqual(["stopped"]);
  });

  test("ends all processes immediately if a second signal follows", async () => {
    await using program = await startSeveral({ DRAIN_WAIT: "60s" });
    program.kill("SIGTERM");
    await until("all are stopping", () => linesThatSay(program, "stopping").length === 1 + PROCESSES);
    program.kill("SIGINT");
    expect(await program.exited).toBe(1);
    expect(children(program).filter(isAlive)).toEqual([]);
  });
});

describe("a start that fails", () => {
  const elsewhere = (folder: string) => ({ DATABASE_URL: `sqlite:${join(folder, "curt.db")}` });

  async function expectPortTaken({ origin }: RunningService, processes: number) {
    using folder = temporaryFolder();
    const { port } = new URL(origin);
    const settings = { PROCESSES: String(processes), PORT: port, ...elsewhere(folder.path) };
    const { code, stdout, stderr } = await refused(settings);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(new RegExp(`^curt: cannot listen on HOST localhost, PORT ${port}: .+\n$`));
    expect(existsSync(join(folder.path, "curt.db"))).toBeFalse();
  }

  test("reports once that another Curt with one process uses its port", async () => {
    await using other = await startService();
    await expectPortTaken(other, PROCESSES);
  });

  test("reports once that another Curt with several processes uses its port", async () => {
    await using several = await startSeveral();
    for (const processes of [PROCESSES, 1]) await expectPortTaken(several, processes);
  });

  for (const processes of [1, PROCESSES])
    test(`refuses one of two that start at once on a port with different stores, PROCESSES=${processes}`, async () => {
      using folder = temporaryFolder();
      const settings = { PORT: String(await freePort()), PROCESSES: String(processes) };
      const [one, other] = [1, 2].map((nth) =>
        refused({ ...settings, DATABASE_URL: `sqlite:${join(folder.path, `${nth}.db`)}` }),
      );
      const { code, stdout, stderr } = (await Promise.race([one, other])) ?? {};
      expect([code, stdout]).toEqual([1, ""]);
      expect(stderr).toContain(`PORT ${settings.PORT}: another program uses the port.`);
      const ready = () => fetch(`http://localhost:${settings.PORT}/readyz`).catch(() => undefined);
      await until("the other one serves", async () => (await ready())?.ok);
    });

  test("reports once why the store can't be used", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "notes.txt");
    writeFileSync(path, "not a database");
    const { code, stderr } = await refused({
      PORT: "0",
      BASE_URL: "https://curt.example",
      DATABASE_URL: `sqlite:${path}`,
    });
    expect([code, stderr]).toEqual([
      1,
      `curt: ${path} is not a SQLite file, or is damaged. Restore a backup or point DATABASE_URL elsewhere.\n`,
    ]);
  });

  for (const [failure, code] of [
    [2, 2],
    [3, 1],
  ] as const)
    test(`stops the started processes if another exits with ${failure}, and exits with ${code}`, async () => {
      using folder = temporaryFolder();
      // Every child except the first one fails.
      const preload = join(folder.path, "trouble.ts");
      writeFileSync(
        preload,
        `import { writeFileSync } from "node:fs";
       if (Bun.isMainThread && process.argv.includes("child")) {
         try { writeFileSync(${JSON.stringify(join(folder.path, "first"))}, String(process.pid), { flag: "wx" }); }
         catch { process.exit(${failure}); }
       }`,
      );
      const child = Bun.spawn([process.execPath, "--preload", preload, PROGRAM, "serve"], {
        env: {
          ...process.env,
          PROCESSES: "3",
          PORT: "0",
          BASE_URL: "https://curt.example",
          ...elsewhere(folder.path),
        },
        stdout: "pipe",
      });
      started.add(child.pid);
      expect(await child.exited).toBe(code);
      const stdout = await child.stdout.text();
      expect(stdout).not.toContain("listens on");
      const first = Number(readFileSync(join(folder.path, "first"), "utf8"));
      expect(stdout).toMatch(new RegExp(`"pid":${first},.*"msg":"stopping"`));
      expect(isAlive(first)).toBeFalse();
    });
});
