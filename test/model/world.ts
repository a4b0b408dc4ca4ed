// The real service as the model's player sees it: its clock, its ends and restarts, and what it holds once it has settled.
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { freePort } from "../support/free-port.ts";
import { type PostgresServer, startPostgres } from "../support/postgres.ts";
import { childrenOf, signal } from "../support/processes.ts";
import { BASE_URL, PROGRAM, ROOT, startProgram, TEST_FOLDER } from "../support/service.ts";
import { createWatchedFolder, type WatchedFolder } from "../support/watched-folder.ts";
import { database } from "../visits/mmdb.ts";
import type { Event, Settings, Settled } from "./commands.ts";
import { keyOf } from "./model.ts";
import { disagreementsOf, linesIn, type Scope, seenIn } from "./views.ts";

export interface WorldOptions {
  readonly engine: "sqlite" | "postgres";
  readonly processes: 1 | 2;
  readonly codeCase: Settings["codeCase"];
  /** In this process, which is fastest, or as a program, which can be killed. */
  readonly kind: "in-process" | "program";
  /** Where a proxy names people. Nobody is named in public. */
  readonly editors?: Settings["editors"];
}

/** Values from the answers to a sequence, by the id of the command. */
export interface Memory {
  /** By `id.nth`. */
  readonly keys: Map<string, { readonly key: string; readonly manageKey: string }>;
  /** Versions by `id key`: those of makers, and those of operators. */
  readonly tags: Map<string, string>;
  readonly revisions: Map<string, string>;
  /** The request that undoes a decision. */
  readonly decisions: Map<number, string>;
}

export type World = Awaited<ReturnType<typeof openWorld>>;

/** The checkout whose program runs. Another one shows which faults the model finds in it. */
const CHECKOUT = process.env["CHECKOUT"] ?? ROOT;
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** A store holds so many sequences: exports of it must stay small. */
const SEQUENCES = 20;
/** The clock of a store starts so long ago, because events have the time of the database, and none may be too old for it. */
const AGO_MS = 90 * DAY_MS;
const MARGIN_MS = 20 * DAY_MS;
/** A start doubts a clock that has moved by a month since the last one. */
const TRUSTED_MS = 20 * DAY_MS;
const WAIT_MS = MINUTE_MS;
const MAX_TRIES = 80;
/** Polls and intervals of the service are shortened by this. A supervisor kills a process that misses ten beats. */
const HASTE = { "in-process": 20, program: 5 };
/** Settling needn't wait for intervals of this length, in which changes are read and events sent. */
const POLL_MS = { least: 300, most: 1000 };
/** The longest of them, so that links are purged within every sequence whose time passes their hold. */
const ROUND_MS = 250;

const OPERATORS = ["alice", "bob"];
const CREATORS = ["feed"];
const NO_LIMITS = Object.fromEntries(
  ["CREATE", "UNKNOWN", "VIEW", "REPORT", "PASSWORDS"].map((name) => [`LIMIT_${name}`, "off"]),
);
/** Whose tokens the world itself uses: an operator's, and one for creating links. */
const [SETTLER, CREATOR] = ["settler", "settling"] as const;
/** The token of an operator or of somebody who creates links. */
export const tokenOf = (name: string) => `${name}-0123456789abcdef`;
/** How the proxy sends a client's address, and its name if it signed somebody in: the service trusts this process. */
export const headersFor = ({ client, person }: { readonly client: string; readonly person?: string }) => ({
  "X-Forwarded-For": client,
  ...(person !== undefined && { "Remote-User": person }),
});
const tokensOf = (names: readonly string[]) => names.map((name) => `${name}:${tokenOf(name)}\n`).join("");

/** Polls until the condition holds. Returns whether it does at the bound. */
async function until(isSo: () => boolean | Promise<boolean>, waitMs: number): Promise<boolean> {
  const endMs = performance.now() + waitMs;
  for (let pauseMs = 1; !(await isSo()); pauseMs = Math.min(2 * pauseMs, 50)) {
    if (performance.now() > endMs) return false;
    await Bun.sleep(pauseMs);
  }
  return true;
}

/** Waits until there are `times` such lines in a log from its line `from` on. */
async function untilLogged(logged: readonly string[], text: string, from = 0, times = 1): Promise<void> {
  const isSo = () => logged.slice(from).filter((line) => line.includes(text)).length >= times;
  if (!(await until(isSo, WAIT_MS))) throw new Error(`the service did not log "${text}"`);
}

/** Only the rules about passwords matter here. */
function makePasswordsCheap() {
  const { hash } = Bun.password;
  Bun.password.hash = (password) => hash(password, { algorithm: "argon2id", memoryCost: 8, timeCost: 1 });
}

/** Moves the clocks of all threads of a program by what a mapped file says, and makes its passwords cheap. */
const PRELOAD = (shift: string, haste: number) => `
  const shift = new Float64Array(Bun.mmap(${JSON.stringify(shift)}, { shared: true }).buffer, 0, 1);
  const [wallMs, monotonicMs] = [Date.now, performance.now.bind(performance)];
  Date.now = () => Math.floor(wallMs() + shift[0]);
  performance.now = () => monotonicMs() + shift[0] + ${AGO_MS};
  const every = globalThis.setInterval;
  globalThis.setInterval = (job, ms, ...rest) => every(job, Math.min(ms / ${haste}, ${ROUND_MS}), ...rest);
  (${makePasswordsCheap.toString()})();
  const Thread = globalThis.Worker;
  globalThis.Worker = class extends Thread {
    constructor(url, options) {
      super(url, { ...options, preload: [import.meta.path] });
    }
  };`;

/** Runs one command of the program after the other, which takes less time than a new process for each. */
const TERMINAL = `
  const [{ readCommandLine }, { COMMANDS }, { readConfig }] = await Promise.all(
    ["cli/command.ts", "cli/commands.ts", "config/config.ts"].map((path) => import(${JSON.stringify(join(CHECKOUT, "src"))} + "/" + path)),
  );
  for await (const line of console) {
    const call = JSON.parse(line);
    try {
      const { command, args } = readCommandLine(COMMANDS, call.args);
      if ((await command.run(readConfig(call.env), args)) !== 0) process.stdout.write("failed\\n");
    } catch (error) {
      process.stdout.write("failed: " + error + "\\n");
    }
    process.stdout.write("\\0\\n");
  }`;

/** The modules of the checkout, whichever it is. */
const load = (path: string) => import(join(CHECKOUT, path));

/** The program, bundled, because then it starts in half the time. */
async function bundle(folder: string): Promise<string> {
  if (CHECKOUT === ROOT && TEST_FOLDER !== undefined) return PROGRAM;
  const { buildModules } = await load("scripts/build.ts");
  await buildModules(join(folder, "program"));
  return join(folder, "program/main.js");
}

/** Threads start faster from a bundle. Returns what ends that. */
function bundleThreads(folder: string): () => void {
  const Thread = globalThis.Worker;
  globalThis.Worker = class extends Thread {
    constructor(url: string | URL) {
      super(join(folder, basename(String(url))));
    }
  };
  return () => void (globalThis.Worker = Thread);
}

interface Running {
  readonly origin: string;
  readonly logged: readonly string[];
  /** The sum of its values. */
  readonly readMetric: (name: string) => Promise<number>;
  /** Runs the periodic jobs now. Does nothing where the program has no way to start them. */
  readonly hurry: () => void;
  readonly stop: () => Promise<void>;
  readonly kill: () => Promise<void>;
  readonly signal: (name: NodeJS.Signals) => void;
  hasEnded: () => boolean;
}

export async function openWorld({ engine, processes, kind, codeCase, editors }: WorldOptions) {
  const creators = editors === undefined ? [] : CREATORS;
  await using opened = new AsyncDisposableStack();
  const folder = opened.use(createWatchedFolder("curt-model"));
  const postgres: PostgresServer | undefined =
    engine === "sqlite" ? undefined : opened.use(await startPostgres(["max_connections=200"]));
  const shiftFile = join(folder.path, "shift");
  writeFileSync(shiftFile, "");
  truncateSync(shiftFile, 8);
  const shift = new DataView(Bun.mmap(shiftFile, { shared: true }).buffer);
  const shiftMs = () => shift.getFloat64(0, true);
  const setShift = (ms: number) => shift.setFloat64(0, ms, true);
  const pass = (ms: number) => setShift(shiftMs() + ms);
  const main = await bundle(folder.path);
  const preload = join(folder.path, "clock.ts");
  writeFileSync(preload, PRELOAD(shiftFile, HASTE[kind]));
  const program = [process.execPath, "--preload", preload, main];
  const [operatorFile, creatorFile] = [join(folder.path, "operators"), join(folder.path, "creators")];
  const countryFile = join(folder.path, "countries");
  // The one of the program takes as long to read as all else at a start.
  writeFileSync(countryFile, database(6, {}));
  const terminal = Bun.spawn([process.execPath, "--preload", preload, "-e", TERMINAL], {
    cwd: folder.path,
    stdin: "pipe",
    stdout: "pipe",
    stderr: "ignore",
  });
  opened.defer(() => terminal.kill());
  const printed = terminal.stdout.getReader();
  if (kind === "in-process") {
    makePasswordsCheap();
    opened.defer(bundleThreads(dirname(main)));
  }
  const receiver = opened.use(receiveEvents());
  const nowMs = () => Math.floor(Date.now() + shiftMs());
  const port = String(await freePort());

  /** Lines of errors and unexpected ends: faults of the service, whatever it answered. */
  const crashed: string[] = [];
  const posture = editors === undefined ? "public" : "private";
  let tokens = "";
  let stores = 0;
  let sequences = 0;
  let sentinels = 0;
  let startedAtShift = -AGO_MS;
  let [data, env]: [string, Record<string, string>] = ["", {}];
  let running: Running | undefined;

  function writeTokens(operators: readonly string[], names: readonly string[]): void {
    tokens = tokensOf([...operators, ...names]);
    writeFileSync(operatorFile, tokensOf([...operators, SETTLER]));
    writeFileSync(creatorFile, tokensOf([...names, CREATOR]));
  }

  async function nameStore(): Promise<void> {
    data = join(folder.path, `store-${++stores}`);
    mkdirSync(data);
    const url = (await postgres?.url(`store-${stores}`)) ?? `sqlite:${join(data, "curt.db")}`;
    env = {
      HOST: "127.0.0.1",
      PORT: port,
      BASE_URL,
      DATABASE_URL: url,
      DATA_DIR: data,
      PROCESSES: String(processes),
      TRUSTED_PROXIES: "127.0.0.1",
      ADMIN_TOKEN_FILE: operatorFile,
      COUNTRY_DATABASE: countryFile,
      ...(editors && { CREATE_TOKEN_FILE: creatorFile, CREATE_USER_HEADER: "Remote-User", EDITORS: editors }),
      CODE_HOLD: "2d",
      CODE_CASE: codeCase,
      POSTURE: posture,
      EDITS: "24h",
      STATS_SHOWN: "all",
      REPORT_THRESHOLD: "2",
      ...NO_LIMITS,
      EVENTS_URL: receiver.url,
      EVENTS_SECRET: `whsec_${Buffer.alloc(32, 1).toString("base64")}`,
      METRICS_PORT: "0",
      LOG_LEVEL: "info",
    };
  }

  const settings: Settings = {
    origin: BASE_URL,
    ownHosts: [new URL(BASE_URL).host],
    codeHoldMs: 2 * DAY_MS,
    codeCase,
    defaultExpiryMs: undefined,
    reportThreshold: 2,
    editsMs: DAY_MS,
    processes,
    posture,
    editors,
    operators: OPERATORS,
    creators,
    events: true,
  };

  async function start(): Promise<void> {
    if (kind === "program" && shiftMs() - startedAtShift > TRUSTED_MS) await curt(["trust-clock", "--yes"]);
    startedAtShift = shiftMs();
    running =
      kind === "program"
        ? await startAsProgram(env, data, program, folder)
        : await startHere(env, { nowMs, monotonicMs: () => performance.now() + shiftMs() + AGO_MS });
  }

  async function end(how: "stop" | "kill"): Promise<void> {
    const ended = running;
    running = undefined;
    if (ended?.hasEnded() === true)
      crashed.push(`it has ended by itself: ${ended.logged.slice(-5).join("\n")}`);
    await ended?.[how]();
    crashed.push(...(ended?.logged ?? []).filter(isError));
  }

  /** Runs a command of the program on the present store, by the service's clock. Returns what it prints. */
  async function curt(args: readonly string[], files: Readonly<Record<string, string>> = {}) {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder.path, name), text);
    await terminal.stdin.write(`${JSON.stringify({ args, env })}\n`);
    let stdout = "";
    while (!stdout.endsWith("\0\n")) {
      const { value, done } = await printed.read();
      if (done) throw new Error(`curt ${args.join(" ")} ended its process`);
      stdout += new TextDecoder().decode(value);
    }
    return stdout;
  }

  const required = (): Running => {
    if (running === undefined) throw new TypeError("the service doesn't run");
    return running;
  };

  /** With several processes, each request has its own connection, because a kept one reaches only one of them. */
  function fetchFrom(path: string, init: BunFetchRequestInit = {}): Promise<Response> {
    return fetch(`${required().origin}${path}`, { redirect: "manual", keepalive: processes === 1, ...init });
  }

  async function operate(path: string): Promise<any> {
    const headers = { Authorization: `Bearer ${tokenOf(SETTLER)}` };
    const response = await fetchFrom(`/api/v1/admin/${path}`, { headers });
    return response.ok ? ((await response.json()) as any).data : void (await response.bytes());
  }

  /** In another process: a command here would close a file of the store, and so drop the service's locks. */
  async function exportStore(): Promise<string> {
    const file = join(folder.path, "exported");
    rmSync(file, { force: true });
    await curt(["export", file]);
    return readFileSync(file, "utf8");
  }
  const readExport = async () => Bun.JSONL.parse(await exportStore()) as readonly any[];

  /**
   * Lets time pass until the condition holds. Another process then takes over from a killed one, and adds the visits that it left.
   */
  async function eventually(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      pass(20 * SECOND_MS);
      const isNowSo = () => {
        required().hurry();
        return isSo();
      };
      if (await until(isNowSo, SECOND_MS / 4)) return;
    }
    throw new Error(`the world waited in vain: ${what}`);
  }

  /** Everything recorded so far arrives before the expiry of a link that is created and expires last. */
  async function settleEvents(): Promise<void> {
    const code = `settled-${stores}-${++sentinels}`;
    const ends = new Date(nowMs() + 2 * SECOND_MS).toISOString();
    const body = JSON.stringify({ target: "https://settled.example/", code, expires_at: ends });
    const headers = { Authorization: `Bearer ${tokenOf(CREATOR)}` };
    const response = await fetchFrom("/api/v1/links", { method: "POST", body, headers });
    if (response.status !== 201)
      throw new Error(
        [`the world can't create a link: ${await response.text()}`, ...required().logged.slice(-5)].join(
          "\n",
        ),
      );
    await eventually(`link.expired of ${code}`, () =>
      receiver.events.some(({ type, subject }) => type === "link.expired" && subject === code),
    );
  }

  /**
   * Waits until events, visits and other processes have arrived, then reads everything about the scope. Lets time pass until none of
   * its links ends about now. Reads again for a while if what it has read doesn't fit.
   */
  async function settle(scope: Scope, fits: (seen: Settled) => boolean, waitMs: number) {
    let lines: ReturnType<typeof linesIn>;
    for (;;) {
      const fromMs = nowMs() - MINUTE_MS;
      await settleEvents();
      await eventually("visits", async () => (await required().readMetric("curt_visits_waiting")) === 0);
      lines = linesIn(await readExport(), scope);
      const ends = lines.links.map(({ expires_at }) => Date.parse(expires_at));
      if (!ends.some((endMs) => endMs > fromMs && endMs < nowMs() + MINUTE_MS)) break;
      pass(5 * MINUTE_MS);
    }
    const endMs = performance.now() + waitMs;
    for (; ; lines = linesIn(await readExport(), scope)) {
      // A sequence can't know how many links others have left. PostgreSQL estimates.
      const others = lines.all.links - lines.links.length;
      const linkCount =
        engine === "sqlite" ? (await required().readMetric("curt_links")) - others : undefined;
      const received = receiver.events.map((event) => ({
        ...event,
        subject: keyOf(settings, event.subject),
      }));
      const seen = { ...seenIn(lines, received, scope.hosts), linkCount };
      const isLast = performance.now() >= endMs;
      if (!fits(seen) && !isLast) continue;
      // The API is read after the export: links may have been purged in between.
      const disagreements = await disagreementsOf(lines, operate);
      if (disagreements.length > 0 && !isLast) continue;
      disagreements.push(...required().logged.filter(isError));
      return { seen, disagreements, atMs: nowMs() };
    }
  }

  /** Replaces the tokens, in all processes. */
  async function reload(operators: readonly string[], names: readonly string[]): Promise<void> {
    writeTokens(operators, names);
    const { logged, signal: send } = required();
    const before = logged.length;
    send("SIGHUP");
    await untilLogged(logged, "read the files of tokens again", before, processes);
  }

  async function startSequence(): Promise<Memory> {
    if (running === undefined || sequences++ % SEQUENCES === SEQUENCES - 1 || shiftMs() > -MARGIN_MS)
      await renew();
    else if (tokens !== tokensOf([...OPERATORS, ...creators])) await reload(OPERATORS, creators);
    return { keys: new Map(), tags: new Map(), revisions: new Map(), decisions: new Map() };
  }

  /** Starts on an empty store, now. */
  async function renew(): Promise<void> {
    await end("stop");
    if (data !== "") rmSync(data, { recursive: true, force: true });
    setShift((startedAtShift = -AGO_MS));
    receiver.events.length = 0;
    writeTokens(OPERATORS, creators);
    await nameStore();
    await start();
  }

  const disposal = opened.move();
  setShift(-AGO_MS);
  writeTokens(OPERATORS, creators);
  await nameStore();
  /** Where a service ran and was killed. Moved, because a copy beside its original is refused. */
  const killed = `${data}-killed`;
  if (engine === "sqlite") {
    await (await startAsProgram(env, data, program, folder)).kill();
    renameSync(data, killed);
  }
  data = "";
  await renew();
  return {
    settings,
    crashed,
    nowMs,
    fetch: fetchFrom,
    curt,
    exportStore,
    settle,
    startSequence,
    /** Other processes look for changes in real time, so they do that before the clock moves. */
    async advance(ms: number) {
      if (processes > 1) await Bun.sleep(ROUND_MS);
      pass(ms);
    },
    /** Ends it with SIGKILL, or gracefully in this process, and starts it again on the same store and port. */
    async kill() {
      await end("kill");
      await start();
    },
    async stop() {
      await end("stop");
      await start();
    },
    /** Lets new processes take over. In this process, nothing happens. */
    async handOver() {
      if (kind === "in-process") return;
      const { logged, signal: send } = required();
      const before = logged.length;
      send("SIGUSR2");
      await untilLogged(logged, "the old processes have ended", before);
    },
    reload,
    /**
     * Exports the store, then imports it into an empty one that replaces it. `isKilled`: a service ran there and was killed. On
     * PostgreSQL, imports are refused for a minute after that.
     */
    async move(isKilled: boolean) {
      await settleEvents();
      await end("stop");
      const text = await exportStore();
      await nameStore();
      if (isKilled && engine === "sqlite") {
        cpSync(killed, data, { recursive: true });
        startedAtShift = -AGO_MS;
      }
      const imported = await curt(["import", "--new", "export"], { export: text });
      await start();
      return imported;
    },
    async [Symbol.asyncDispose]() {
      await end("stop");
      await disposal.disposeAsync();
    },
  };
}

function isError(line: string): boolean {
  return line.includes('"level":"error"') || /"msg":"a process (?:ended|is hung)/.test(line);
}

async function startAsProgram(
  env: Record<string, string>,
  data: string,
  command: readonly string[],
  folder: WatchedFolder,
): Promise<Running> {
  const program = await startProgram(env, { folder: data, command: [...command, "serve"] });
  folder.watch([program.pid]);
  program.expectFaults();
  let hasEnded = false;
  void program.exited.then(() => (hasEnded = true));
  await untilLogged(program.logged, "metrics for Prometheus");
  const [metrics = ""] =
    /(?<=metrics for Prometheus are at )http[^\s"]+/.exec(program.logged.join("\n")) ?? [];
  return {
    origin: program.origin,
    logged: program.logged,
    async readMetric(name) {
      const text = await (await fetch(metrics, { keepalive: false })).text();
      const values = [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, "gm"))];
      return values.reduce((sum, [, value]) => sum + Number(value), 0);
    },
    hurry() {},
    stop: async () => program[Symbol.asyncDispose](),
    async kill() {
      signal(program.pid, "SIGSTOP");
      const all = [program.pid, ...childrenOf(program.pid)];
      for (const pid of all) signal(pid, "SIGKILL");
      await program.exited;
    },
    signal: (name) => signal(program.pid, name),
    hasEnded: () => hasEnded,
  };
}

type Clocks = Readonly<Record<"nowMs" | "monotonicMs", () => number>>;

async function startHere(env: Record<string, string>, { nowMs, monotonicMs }: Clocks): Promise<Running> {
  const [{ startService }, { readConfig }, { createLog }, { createClock }] = await Promise.all(
    ["server/service.ts", "config/config.ts", "lib/log.ts", "links/clock.ts"].map((path) =>
      load(`src/${path}`),
    ),
  );
  const logged: string[] = [];
  const output = { isTTY: false, writableLength: 0, on() {}, write: (line: string) => logged.push(line) };
  const every = globalThis.setInterval;
  const jobs = new Set<() => void>();
  globalThis.setInterval = ((job: () => void, ms: number) => {
    if (ms >= POLL_MS.least && ms <= POLL_MS.most) jobs.add(job);
    return every(job, Math.min(ms / HASTE["in-process"], ROUND_MS));
  }) as typeof every;
  try {
    const service = await startService(readConfig(env), createLog("info", output), {
      core: { clock: createClock(nowMs, monotonicMs), sizeKnownMs: 0 },
      views: { sharedMs: 0 },
      overload: { maxWaitMs: Number.POSITIVE_INFINITY },
    });
    return {
      origin: `http://127.0.0.1:${service.port}`,
      logged,
      async readMetric(name) {
        const values: { value: number }[] = (await service.readMetrics({ samples: true }))[name];
        return values.reduce((sum, { value }) => sum + value, 0);
      },
      hurry: () => jobs.forEach((job) => job()),
      stop: () => service.stop(),
      kill: () => service.stop(),
      signal: (name) => name === "SIGHUP" && process.emit(name),
      hasEnded: () => false,
    };
  } finally {
    globalThis.setInterval = every;
  }
}

/** The address of EVENTS_URL. Keeps each event once. */
function receiveEvents() {
  const events: Event[] = [];
  const ids = new Set<string>();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      for (const { id, type, subject, data } of (await request.json()) as any[]) {
        if (ids.has(id)) continue;
        ids.add(id);
        const reason = type === "link.disabled" ? data.reason : undefined;
        events.push({ type, subject, by: data.by, reason });
      }
      return new Response(null, { status: 204 });
    },
  });
  return {
    events,
    url: `http://127.0.0.1:${server.port}/`,
    async [Symbol.asyncDispose]() {
      await server.stop(true);
    },
  };
}
