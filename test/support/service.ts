import { afterAll, beforeAll } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";

import { type Config, readConfig } from "../../src/config/config.ts";
import { REASON_HEADER, PROBLEM_REASONS } from "../../src/http/problem-reasons.ts";
import { createLog } from "../../src/lib/log.ts";
import { createClock } from "../../src/links/clock.ts";
import type { LinkKey } from "../../src/links/code.ts";
import { isProblem, type Reason } from "../../src/links/problem.ts";
import { type Limits, startService as start } from "../../src/server/service.ts";
import { openStore } from "../../src/store/open.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { freePort } from "./free-port.ts";
import { sharePostgres } from "./postgres.ts";
import { drainsUntil, HELD_DRAIN, roundsOf } from "./preloads.ts";

export const ROOT = resolve(import.meta.dir, "../..");
/** The folder of `test/run.ts`, which deletes it at the end. Undefined if `bun test` runs alone. */
export const TEST_FOLDER = process.env["TEST_FOLDER"];
/** The program that tests start. `test/run.ts` bundles it, which halves its start. Otherwise its source. */
export const PROGRAM = TEST_FOLDER === undefined ? join(ROOT, "src/main.ts") : join(TEST_FOLDER, "main.js");
export const BASE_URL = "https://curt.example";

export type Settings = Readonly<Record<string, string>>;

/**
 * A running service. A 5xx response or an error in its log fails the test, unless `expectFaults` was called. So does an error
 * response without a valid `Curt-Reason`.
 */
export interface RunningService extends AsyncDisposable {
  readonly origin: string;
  readonly database: Config["database"];
  /** DATABASE_URL. */
  readonly databaseUrl: string;
  /** Path of its SQLite file; empty over PostgreSQL. */
  readonly file: string;
  readonly logged: string[];
  fetch(path: string, init?: BunFetchRequestInit): Promise<Response>;
  shorten(body: unknown, headers?: Record<string, string>): Promise<Response>;
  /** Allows 5xx responses and logged errors from now on. */
  expectFaults(): void;
}

/** A service in this process, whose time the test sets. */
export interface LocalService extends RunningService {
  /** The time of the service, in Unix milliseconds. */
  nowMs(): number;
  /** Moves the clocks of the service forward. */
  advance(ms: number): void;
}

export interface Program extends RunningService {
  readonly pid: number;
  /** Resolves with the exit code once the program has ended and `logged` has all its lines, also those of its children. */
  readonly exited: Promise<number>;
  kill(signal: NodeJS.Signals): void;
  /** See {@link ProgramOptions.holdsDrain}. */
  endDrain(): void;
}

/** Creates a folder that is deleted at the end of the scope. */
export function temporaryFolder(parent = tmpdir()): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(parent, "curt-test-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** Opens a new store that is closed and deleted at the end of the scope. */
export async function temporaryStore() {
  const folder = temporaryFolder();
  const store = await openSqliteStore(join(folder.path, "curt.db"));
  return Object.assign(store, {
    async [Symbol.asyncDispose]() {
      await store.close();
      folder[Symbol.dispose]();
    },
  });
}

/** All tests are one client. */
const NO_LIMITS = { LIMIT_CREATE: "off", LIMIT_UNKNOWN: "off", LIMIT_VIEW: "off", LIMIT_REPORT: "off" };

/** `STORE=postgres npx bun test FILE` runs tests over PostgreSQL. Tests of SQLite's file then fail. */
const isOverPostgres = process.env["STORE"] === "postgres";

async function databaseFor(folder: string): Promise<string> {
  if (!isOverPostgres) return `sqlite:${join(folder, "curt.db")}`;
  return (await sharePostgres("")).url(basename(folder));
}

async function settingsFor(folder: string, settings: Settings): Promise<Settings> {
  const database = settings["DATABASE_URL"] ?? (await databaseFor(folder));
  const place = database.startsWith("postgres") ? { DATA_DIR: folder } : {};
  return { PORT: "0", BASE_URL, DATABASE_URL: database, ...place, ...NO_LIMITS, ...settings };
}

/**
 * Stores visits early and shares no views, so that tests needn't wait. Refuses nothing as an overload, because tests block the
 * thread themselves.
 */
const USUAL_LIMITS: Limits = {
  journal: { tickMs: 20 },
  views: { sharedMs: 0 },
  overload: { maxWaitMs: Number.POSITIVE_INFINITY },
};

export interface ServiceOptions {
  readonly limits?: Limits;
  /** Not deleted when the service ends. Default: a temporary folder. */
  readonly folder?: string;
  /** The time at the start, in Unix milliseconds. Default: the present. */
  readonly startMs?: number;
  /**
   * Time passes only when the test advances it, for tests to the second on a busy machine. Visits are counted only as time
   * passes.
   */
  readonly standsStill?: boolean;
  /** Gets the lines of the log, also of a start that fails. */
  readonly logged?: string[];
}

/** Starts the service in this process. Everything is real, from the port to the file. */
export async function startService(
  settings: Settings = {},
  options: ServiceOptions = {},
): Promise<LocalService> {
  const own = options.folder === undefined ? temporaryFolder() : undefined;
  const folder = options.folder ?? own?.path ?? "";
  const { logged = [] } = options;
  const output = { isTTY: false, writableLength: 0, on() {}, write: (line: string) => logged.push(line) };
  const log = createLog("debug", output as unknown as NodeJS.WriteStream);
  const all = await settingsFor(folder, settings);
  const config = readConfig(all);
  const { clock, advance } = settableClock(options);
  const service = await start(config, log, {
    ...USUAL_LIMITS,
    ...options.limits,
    core: { ...options.limits?.core, clock },
  });
  const scheme = config.tlsCert === null ? "http" : "https";
  const running = client(`${scheme}://127.0.0.1:${service.port}`, all, logged, async () => {
    await service.stop();
    own?.[Symbol.dispose]();
  });
  return Object.assign(running, { nowMs: clock.nowMs, advance });
}

/** One service for the tests of a file or of a `describe`. Available from their first `beforeAll` on. */
export function shareService(settings: Settings = {}, options: ServiceOptions = {}): LocalService {
  const shared = {} as LocalService;
  beforeAll(async () => void Object.assign(shared, await startService(settings, options)));
  afterAll(() => shared[Symbol.asyncDispose]());
  return shared;
}

/** Runs like the system's clock, unless it stands still. Advances the wall clock and the monotonic one together. */
function settableClock({ startMs, standsStill = false }: ServiceOptions) {
  const [startedMs, startedMonotonicMs] = [Date.now(), performance.now()];
  const shiftMs = startMs === undefined ? 0 : startMs - startedMs;
  let passedMs = 0;
  return {
    clock: createClock(
      () => shiftMs + passedMs + (standsStill ? startedMs : Date.now()),
      () => passedMs + (standsStill ? startedMonotonicMs : performance.now()),
    ),
    advance: (ms: number) => void (passedMs += ms),
  };
}

export interface ProgramOptions {
  readonly command?: readonly string[];
  /** Options of Bun, if there is no other command. */
  readonly bunOptions?: readonly string[];
  /** Limits the intervals of the program, such as those of polling a file, to this time. */
  readonly roundMs?: number;
  /** A stop drains until the test calls `endDrain`. */
  readonly holdsDrain?: boolean;
  /** Not deleted when the program ends. Default: a temporary folder. */
  readonly folder?: string;
}

/** Runs the program in its own process, as an operator starts it. */
export async function startProgram(settings: Settings = {}, options: ProgramOptions = {}): Promise<Program> {
  const own = options.folder === undefined ? temporaryFolder() : undefined;
  const folder = options.folder ?? own?.path ?? "";
  const held = options.holdsDrain === true ? HELD_DRAIN : {};
  // The program checks that a port is free before its processes listen on it. Meanwhile, no other test may get the port.
  const all = await settingsFor(folder, { PORT: String(await freePort()), ...held, ...settings });
  const env = { ...process.env, ...all };
  const drainEnd = join(folder, "end-of-drain");
  const preloads = [
    ...(options.roundMs === undefined ? [] : [roundsOf(options.roundMs, folder)]),
    ...(options.holdsDrain === true ? [drainsUntil(drainEnd, folder)] : []),
  ].flatMap((path) => ["--preload", path]);
  const command = options.command ?? [
    process.execPath,
    ...(options.bunOptions ?? []),
    ...preloads,
    PROGRAM,
    "serve",
  ];
  const child = Bun.spawn([...command], {
    cwd: ROOT,
    env,
    stdout: "pipe",
    stderr: "inherit",
  });
  const logged: string[] = [];
  const { listening, ended } = collect(child.stdout, logged);
  const exited = ended.then(() => child.exited);
  const origin = await listening;
  if (origin === undefined) {
    throw new Error(`the program did not start (exit code ${await exited}): ${logged.join("")}`);
  }
  const endDrain = () => writeFileSync(drainEnd, "");
  const running = client(origin, all, logged, async () => {
    if (options.holdsDrain === true) endDrain();
    child.kill("SIGTERM");
    await exited;
    own?.[Symbol.dispose]();
  });
  return Object.assign(running, {
    pid: child.pid,
    exited,
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    endDrain,
  });
}

/**
 * Collects the lines of a program's output. `listening` resolves with the origin in one of them, or with undefined if none has
 * one. `ended` resolves after the last line.
 */
function collect(output: ReadableStream<Uint8Array>, logged: string[]) {
  const { promise: listening, resolve: listens } = Promise.withResolvers<string | undefined>();
  async function read(): Promise<void> {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const chunk of output) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      logged.push(...lines);
      const [origin] = lines.join("\n").match(/(?<=listens on )https?:\/\/[^\s"]+/) ?? [];
      if (origin !== undefined) listens(origin);
    }
  }
  return { listening, ended: read().finally(() => listens(undefined)) };
}

/** Waits until `times` lines of the log contain `text`. Lines may arrive a moment after the event. */
export async function untilLogged(
  { logged }: Pick<RunningService, "logged">,
  text: string,
  times = 1,
): Promise<void> {
  while (logged.filter((line) => line.includes(text)).length < times) await Bun.sleep(5);
}

/** Opens the store of a service again, as another process does. A database on a busy machine may take a while. */
export async function openStoreOf({ database }: RunningService) {
  const store = await openStore(database, { openWaitMs: 60_000 });
  return Object.assign(store, { [Symbol.asyncDispose]: () => store.close() });
}

/** The store of a shared service, as another process has it, for the tests of a file or of a `describe`. */
export function shareStoreOf(service: RunningService): Awaited<ReturnType<typeof openStoreOf>> {
  const shared = {} as Awaited<ReturnType<typeof openStoreOf>>;
  beforeAll(async () => void Object.assign(shared, await openStoreOf(service)));
  afterAll(() => shared.close());
  return shared;
}

/** Ends a link as another process would. The service reads the change a moment later. */
export async function endLink(service: RunningService, code: string, endsMs: number): Promise<void> {
  await using store = await openStoreOf(service);
  const link = await store.find(code as LinkKey);
  const ended = link && (await store.update(link, { type: "edit", atMs: link.createdMs, endsMs }));
  if (ended?.isChanged !== true) throw new Error(`${code} could not be ended`);
}

/** Disables a link as another process would. The service drops it from its cache a moment later. */
export async function disableLink(service: RunningService, code: string, reason: Reason): Promise<void> {
  await using store = await openStoreOf(service);
  const link = await store.find(code as LinkKey);
  const decision = { who: "api", atMs: Date.now(), reason } as const;
  const disabled = link && (await store.disable([link], decision));
  if (disabled === undefined || isProblem(disabled) || disabled.changed === 0)
    throw new Error(`${code} could not be disabled`);
}

/** Throws unless the response has listed reasons exactly if it is an error. */
export function checkReasons({ status, headers }: Response, request: string): void {
  const value = headers.get(REASON_HEADER);
  const reasons: readonly string[] = value?.split(", ") ?? [];
  const areListed = reasons.every((reason) => PROBLEM_REASONS.some((one) => one === reason));
  if (status >= 400 !== reasons.length > 0 || !areListed || new Set(reasons).size < reasons.length)
    throw new Error(`${request}: ${status} with the reason ${value}`);
}

function methodsOf(request: RunningService["fetch"]): Pick<RunningService, "fetch" | "shorten"> {
  return {
    fetch: request,
    shorten: (body, headers = {}) =>
      request("/api/v1/shorten", {
        method: "POST",
        headers: { "Content-Type": "application/json", ...headers },
        body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body),
      }),
  };
}

/** The service as it answers at one of its domains, given as an origin or a `Host` header. */
export function toDomain<R extends RunningService>(running: R, domain: string): R {
  const Host = domain.startsWith("https:") ? new URL(domain).host : domain;
  const request: RunningService["fetch"] = (path, init = {}) =>
    running.fetch(path, { ...init, headers: { Host, ...(init.headers as Record<string, string>) } });
  return { ...running, ...methodsOf(request) };
}

/** Status of a response, with its reason or destination: "404 link.unknown", "302 https://example.com/", "200". */
export async function outcomeOf(answer: Answer | Promise<Answer>): Promise<string> {
  const { status, headers } = await answer;
  return [status, headers.get(REASON_HEADER) ?? headers.get("location") ?? []].flat().join(" ");
}

type Answer = Pick<Response, "status" | "headers">;

/**
 * On a busy machine, PostgreSQL can take longer to open a connection or to execute than a request waits, and a commit can have
 * no turn in time. Then nothing has happened.
 */
const BUSY =
  /All connections were busy|No server of the database can be used|canceling statement due to statement timeout|Waited too long for its commit/;
const MAX_TRIES = 4;
/** For the line of the log that says so. */
const WAIT_MS = 10;
const MAX_WAITS = 200;

function client(
  origin: string,
  settings: Settings,
  logged: string[],
  stop: () => Promise<void>,
): RunningService {
  const { database } = readConfig(settings);
  let faultsExpected = false;
  /** The line may be old, because repetitions are only counted for some seconds, or arrive after the response. */
  async function logsBusy(): Promise<boolean> {
    for (let waits = 0; waits < MAX_WAITS; waits++) {
      if (logged.some((line) => BUSY.test(line))) return true;
      await Bun.sleep(WAIT_MS);
    }
    return false;
  }
  async function request(path: string, init: BunFetchRequestInit = {}, tries = 1): Promise<Response> {
    const response = await fetch(`${origin}${path}`, { redirect: "manual", ...init });
    const mayRetry = response.status === 503 && !faultsExpected && tries < MAX_TRIES;
    if (mayRetry && (await logsBusy())) return request(path, init, tries + 1);
    if (response.status >= 500 && !faultsExpected) {
      const text = (await response.text()).slice(0, 500);
      const log = logged.slice(-5).join("\n");
      throw new Error(`${init.method ?? "GET"} ${path}: ${response.status} ${text}\n${log}`);
    }
    checkReasons(response, `${init.method ?? "GET"} ${path}`);
    return response;
  }
  return {
    ...methodsOf((path, init) => request(path, init)),
    origin,
    database,
    databaseUrl: settings["DATABASE_URL"] ?? "",
    file: database.engine === "sqlite" ? database.path : "",
    logged,
    expectFaults() {
      faultsExpected = true;
    },
    async [Symbol.asyncDispose]() {
      await stop();
      const faults = logged.filter((line) => line.includes('"level":"error"'));
      if (faults.length > 0 && !faultsExpected) throw new Error(`logged: ${faults.join("")}`);
    },
  };
}
