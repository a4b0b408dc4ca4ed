import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";

import type { Target } from "../src/links/target.ts";
import { checkStore } from "../src/store/open.ts";
import { testOnLinux } from "./linux.ts";
import {
  openStoreOf,
  type Program,
  type ProgramOptions,
  ROOT,
  type Running,
  type Settings,
  startHere,
  startProgram,
  temporaryFolder,
} from "./service.ts";
import { newLink } from "./stores/links.ts";

const PROCESSES = 3;
const TARGET = "https://example.com/";
/** The time limit for anything a test waits for. Faster is not asserted. */
const PATIENCE_MS = 120_000;

const begun = new Set<number>();
afterEach(() => {
  for (const pid of begun) if (isAlive(pid)) process.kill(pid, "SIGKILL");
  begun.clear();
});

async function startSeveral(settings: Settings = {}, options: ProgramOptions = {}): Promise<Program> {
  const several = { PROCESSES: String(PROCESSES), LOG_LEVEL: "debug", ...settings };
  const program = await startProgram(several, options);
  begun.add(program.pid);
  for (const pid of children(program)) begun.add(pid);
  return program;
}

interface Line {
  readonly msg: string;
  readonly pid: number;
  readonly code?: string;
  readonly child?: number;
  readonly children?: number[];
}

const lines = (program: Program) => program.logged.map((line) => JSON.parse(line) as Line);
const linesThatSay = (program: Program, text: string) =>
  lines(program).filter(({ msg }) => msg.includes(text));
const children = (program: Program) => linesThatSay(program, "listens on")[0]?.children ?? [];

/** Zombies (processes that have ended but have not been waited for) count as dead. */
function isAlive(pid: number): boolean {
  try {
    if (process.platform !== "linux") return process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** The number of sockets that listen on the port, from the kernel's table. */
function listeners(origin: string): number {
  const port = Number(new URL(origin).port).toString(16).toUpperCase().padStart(4, "0");
  const sockets = readFileSync("/proc/net/tcp", "utf8").split("\n");
  return sockets.filter((socket) => new RegExp(`^ *\\d+: \\w+:${port} \\w+:0000 0A `).test(socket)).length;
}

async function until<T>(what: string, look: () => T | undefined | false | Promise<T | undefined | false>) {
  const patience = AbortSignal.timeout(PATIENCE_MS);
  while (!patience.aborted) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await Bun.sleep(5);
  }
  throw new Error(`waited too long until ${what}`);
}

/** Opens a keep-alive connection. One process answers all its requests. */
function open(origin: string) {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname).setEncoding("utf8");
  let received = "";
  let arrived = () => {};
  let closed = false;
  socket.on("data", (text) => {
    received += text;
    arrived();
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    closed = true;
    arrived();
  });
  return {
    async request(method: string, path: string, body = ""): Promise<{ status: number; location?: string }> {
      received = "";
      socket.write(
        `${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
      for (;;) {
        const [head = "", rest] = received.split("\r\n\r\n", 2);
        const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
        if (rest !== undefined && Buffer.byteLength(rest) >= length) {
          const [, location] = /^location: (\S+)/im.exec(head) ?? [];
          return { status: Number(head.split(" ")[1]), ...(location !== undefined && { location }) };
        }
        if (closed) throw new Error("the connection is closed");
        await new Promise<void>((resolve) => (arrived = resolve));
      }
    },
    [Symbol.dispose]: () => void socket.destroy(),
  };
}
type Connection = ReturnType<typeof open>;

/** Opens a connection to each of these processes. To tell them apart, makes links and looks in the log for who did. */
async function openEach(program: Program, pids: readonly number[]) {
  const disposing = new DisposableStack();
  const found = new Map<number, Connection>();
  await until(`each of ${pids.join()} answers`, async () => {
    const connection = disposing.use(open(program.origin));
    const custom_code = `probe-${crypto.randomUUID()}`;
    const { status } = await connection.request("POST", "/api/v1/shorten", create(custom_code));
    expect(status).toBe(201);
    const line = await until("the link is logged", () =>
      lines(program).find(({ code }) => code === custom_code),
    );
    found.set(line.pid, connection);
    return pids.every((pid) => found.has(pid));
  });
  return {
    of: (pid: number) => found.get(pid) as Connection,
    /** Sends a GET to every process. */
    get: (path: string) =>
      Promise.all(pids.map(async (pid) => (await found.get(pid)?.request("GET", path)) ?? { status: 0 })),
    [Symbol.dispose]: () => disposing.dispose(),
  };
}

const create = (custom_code: string, original_url = TARGET) => JSON.stringify({ original_url, custom_code });
const all = <T>(answer: T) => Array.from({ length: PROCESSES }, () => answer);

/** Starts the program with settings that must make it fail. */
async function refused(settings: Settings) {
  const child = Bun.spawn([process.execPath, join(ROOT, "src/main.ts"), "serve"], {
    env: { ...process.env, PROCESSES: String(PROCESSES), ...settings },
    stdout: "pipe",
    stderr: "pipe",
  });
  begun.add(child.pid);
  const [code, stdout, stderr] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()]);
  return { code, stdout, stderr };
}

describe("several processes", () => {
  let program: Program;
  beforeAll(async () => {
    program = await startSeveral({ CODE_HOLD: "0s" });
    // It serves several tests.
    begun.clear();
  });
  afterAll(() => program[Symbol.asyncDispose]());

  testOnLinux("say once that they listen, when all do", async () => {
    expect(listeners(program.origin)).toBe(PROCESSES);
    expect(linesThatSay(program, "listens on")).toEqual([
      expect.objectContaining({
        pid: program.pid,
        msg: expect.stringMatching(/^Curt .+ listens on http:\S+ and makes links at .+, in 3 processes$/),
      }),
    ]);
    expect(new Set(children(program)).size).toBe(PROCESSES);
    expect(children(program)).not.toContain(program.pid);
    for (const pid of children(program)) expect(isAlive(pid)).toBeTrue();
  });

  testOnLinux("share the port, and what one makes resolves in all at once", async () => {
    using connections = await openEach(program, children(program));
    for (const [nth, pid] of children(program).entries()) {
      const code = `made-by-${nth}`;
      expect(await connections.get(`/${code}`)).toEqual(all({ status: 404 }));
      expect(
        (await connections.of(pid).request("POST", "/api/v1/shorten", create(code, `${TARGET}${nth}`)))
          .status,
      ).toBe(201);
      expect(await connections.get(`/${code}`)).toEqual(all({ status: 302, location: `${TARGET}${nth}` }));
    }
  });

  testOnLinux(
    "follow a code that ended and was taken over, though each had the old link in memory",
    async () => {
      using connections = await openEach(program, children(program));
      await using store = await openStoreOf(program);
      const old = all({ status: 302, location: "https://example.com/old" });
      let code = "";
      // Retry with a longer life until every process was asked before the link ended.
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
  test("stops all, and loses no request of a steady load", async () => {
    using folder = temporaryFolder();
    await using program = await startSeveral({}, { folder: folder.path, holdsDrain: true });
    await program.shorten({ original_url: TARGET, custom_code: "abc" });
    const answers: unknown[] = [];
    const stopping = new AbortController();
    const lost = () => ({ status: "lost" });
    const clients = Array.from({ length: 8 }, async (_, client) => {
      // Every client continues for a while after the signal.
      for (let nth = 0, late = 0; late < 4; nth++) {
        if (stopping.signal.aborted) late++;
        const custom_code = `c-${client}-${nth}`;
        answers.push((await program.fetch("/abc").catch(lost)).status);
        answers.push((await program.shorten({ original_url: TARGET, custom_code }).catch(lost)).status);
      }
    });
    await until("the load has begun", () => answers.length > 100);
    program.kill("SIGTERM");
    await until("all are stopping", () => linesThatSay(program, "stopping").length === 1 + PROCESSES);
    stopping.abort();
    await Promise.all(clients);
    program.endDrain();
    expect(await program.exited).toBe(0);
    expect(new Set(answers)).toEqual(new Set([302, 201]));
    expect(linesThatSay(program, "stopping")).toHaveLength(1 + PROCESSES);
    expect(children(program).filter(isAlive)).toEqual([]);
    expect(existsSync(`${program.file}-wal`)).toBeFalse();
    expect(await checkStore(program.database)).toEqual({
      links: 1 + answers.filter((status) => status === 201).length,
      damage: [],
    });
  });

  test("may reach the children too, as from a terminal, and counts once", async () => {
    await using program = await startSeveral({ DRAIN_WAIT: "1s" });
    for (const pid of [...children(program), program.pid]) process.kill(pid, "SIGINT");
    expect(await program.exited).toBe(0);
    expect(children(program).filter(isAlive)).toEqual([]);
  });

  test("may reach a child that has hardly begun, and is no failure then", async () => {
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
    const parent = Bun.spawn([process.execPath, "--preload", preload, join(ROOT, "src/main.ts"), "serve"], {
      env: {
        ...process.env,
        PROCESSES: "2",
        PORT: "0",
        BASE_URL: "https://curt.example",
        DATABASE_URL: `sqlite:${join(folder.path, "curt.db")}`,
      },
      stdout: "pipe",
    });
    begun.add(parent.pid);
    const child = await until(
      "a child has begun",
      () => existsSync(born) && (Number(readFileSync(born)) || undefined),
    );
    begun.add(child);
    for (const pid of [parent.pid, child]) process.kill(pid, "SIGTERM");
    expect(await parent.exited).toBe(0);
    const messages = [...(await parent.stdout.text()).matchAll(/"msg":"(.*)"/g)].map(
      ([, message]) => message,
    );
    // The children may have ended before the parent handles its signal; then there is nothing to stop.
    expect(messages.filter((message) => message !== "stopping")).toEqual(["stopped"]);
  });

  test("ends all at once when it comes twice", async () => {
    await using program = await startSeveral({ DRAIN_WAIT: "60s" });
    program.kill("SIGTERM");
    await until("all are stopping", () => linesThatSay(program, "stopping").length === 1 + PROCESSES);
    program.kill("SIGTERM");
    expect(await program.exited).toBe(1);
    expect(children(program).filter(isAlive)).toEqual([]);
  });
});

/** Usually a second. A process that is silent for ten of them is killed, so they must not be much shorter on a busy machine. */
const SOONER_BEAT_MS = 400;

describe("a process that hangs", () => {
  test("is ended and replaced, and the others serve on", async () => {
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
      () => linesThatSay(program, "another process took its place")[0],
    );
    begun.add(replacement);
    expect(linesThatSay(program, "is hung")).toMatchObject([{ child: hung }]);
    expect(linesThatSay(program, "a process ended")).toMatchObject([{ child: hung, signal: "SIGKILL" }]);
    using back = await openEach(program, [replacement, ...others]);
    for (const code of codes)
      expect(await back.get(`/${code}`)).toEqual(all({ status: 302, location: TARGET }));
  });

  test("is ended during a stop, too, which needs no second signal", async () => {
    using folder = temporaryFolder();
    await using program = await startSeveral({}, { folder: folder.path, roundMs: SOONER_BEAT_MS });
    const [hung = 0] = children(program);
    process.kill(hung, "SIGSTOP");
    program.kill("SIGTERM");
    expect(await program.exited).toBe(1);
    expect(linesThatSay(program, "is hung")).toMatchObject([{ child: hung }]);
    expect(children(program).filter(isAlive)).toEqual([]);
  });

  test("is not one that has nothing to do, whose supervisor was hung, or that stops slowly", async () => {
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

describe("SIGKILL", () => {
  testOnLinux("of one process: the others serve on, and another takes its place", async () => {
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
      return linesThatSay(program, "another process took its place")[0];
    });
    begun.add(replacement);
    using back = await openEach(program, [replacement, ...others]);
    expect(await back.get("/abc")).toEqual(all({ status: 302, location: TARGET }));
    program.kill("SIGTERM");
    expect(await program.exited).toBe(0);
    expect([replacement, ...others].filter(isAlive)).toEqual([]);
  });

  test("again and again: the place is filled each time", async () => {
    await using program = await startSeveral();
    let [victim = 0] = children(program);
    for (let round = 1; round <= 3; round++) {
      process.kill(victim, "SIGKILL");
      const line = await until(
        "another takes its place",
        () => linesThatSay(program, "another process took its place")[round - 1],
      );
      victim = line.child ?? 0;
      begun.add(victim);
    }
    expect((await program.fetch("/readyz")).status).toBe(200);
  });

  testOnLinux("of the supervisor leaves no process behind, and the store whole", async () => {
    using folder = temporaryFolder();
    await using program = await startSeveral({}, { folder: folder.path });
    using _ = await openEach(program, children(program));
    program.kill("SIGKILL");
    // When the children, too, have closed the output.
    expect(await program.exited).not.toBe(0);
    await until("its children are gone", () => !children(program).some(isAlive));
    expect(linesThatSay(program, "stopping")).toHaveLength(PROCESSES);
    expect(existsSync(`${program.file}-wal`)).toBeFalse();
    expect(await fetch(program.origin).catch(() => "refused")).toBe("refused");
  });
});

describe("a start that fails", () => {
  const elsewhere = (folder: string) => ({ DATABASE_URL: `sqlite:${join(folder, "curt.db")}` });

  async function refusedAt({ origin }: Running, processes: number) {
    using folder = temporaryFolder();
    const { port } = new URL(origin);
    const settings = { PROCESSES: String(processes), PORT: port, ...elsewhere(folder.path) };
    const { code, stdout, stderr } = await refused(settings);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(new RegExp(`^curt: cannot listen on HOST localhost, PORT ${port}: .+\n$`));
    expect(existsSync(join(folder.path, "curt.db"))).toBeFalse();
  }

  test("finds its port taken by one Curt, and says so once", async () => {
    await using other = await startHere();
    await refusedAt(other, PROCESSES);
  });

  test("finds its port taken by several of another Curt, and says so once, also if it is of one", async () => {
    await using several = await startSeveral();
    for (const processes of [PROCESSES, 1]) await refusedAt(several, processes);
  });

  test("says once what is wrong with the store", async () => {
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
    test(`stops those that did start when another fails with ${failure}, and exits with ${code}`, async () => {
      using folder = temporaryFolder();
      // Makes every child fail except the first one.
      const preload = join(folder.path, "trouble.ts");
      writeFileSync(
        preload,
        `import { writeFileSync } from "node:fs";
       if (Bun.isMainThread && process.argv.includes("child")) {
         try { writeFileSync(${JSON.stringify(join(folder.path, "first"))}, String(process.pid), { flag: "wx" }); }
         catch { process.exit(${failure}); }
       }`,
      );
      const child = Bun.spawn([process.execPath, "--preload", preload, join(ROOT, "src/main.ts"), "serve"], {
        env: {
          ...process.env,
          PROCESSES: "3",
          PORT: "0",
          BASE_URL: "https://curt.example",
          ...elsewhere(folder.path),
        },
        stdout: "pipe",
      });
      begun.add(child.pid);
      expect(await child.exited).toBe(code);
      const stdout = await child.stdout.text();
      expect(stdout).not.toContain("listens on");
      const first = Number(readFileSync(join(folder.path, "first"), "utf8"));
      expect(stdout).toMatch(new RegExp(`"pid":${first},.*"msg":"stopping"`));
      expect(isAlive(first)).toBeFalse();
    });
});
