import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Subprocess } from "bun";

import { type Link, readLinks, shuffled, writeLinks } from "./links.ts";
import { generated } from "./load.ts";
import { firstChild, LOAD_CORE, pinned, SERVER_CORE, start, stop } from "./process.ts";

const START_LIMIT_MS = 10_000;
/** Pause between two attempts to reach a server. It bounds the precision of start times. */
const RETRY_MS = 2;
/** Enough for a disk that syncs slowly. */
const MAKING_LIMIT_MS = 600_000;
/** More links than necessary, because nginx can't distinguish all of them. */
const SPARE_LINKS = 100;

/** A server under measurement. */
export interface Server {
  readonly name: string;
  readonly port: number;
  /** The process that answers. */
  readonly pid: number;
  /** Stops it like an operator, and waits for its end. */
  stop(): Promise<void>;
}

export interface Curt extends Server {
  readonly database: string;
}

interface CurtOptions {
  /** The delay of each sync of the disk. */
  readonly syncDelayMs?: number;
  /** It has started once this path responds. */
  readonly path?: string;
  readonly settings?: Readonly<Record<string, string>>;
  /** The command to run. */
  readonly program?: readonly string[];
  /** File for its log. Default: none. */
  readonly logFile?: string;
}

export const FROM_SOURCE = [process.execPath, "src/main.ts"] as const;

/** Starts Curt like an operator, with this database; a new one by default. */
export async function startCurt(
  database: string,
  { syncDelayMs = 0, path = "/readyz", settings = {}, program = FROM_SOURCE, logFile }: CurtOptions = {},
): Promise<Curt> {
  const port = freePort();
  const env = {
    PORT: String(port),
    BASE_URL: `http://localhost:${port}`,
    DATABASE_URL: `sqlite:${database}`,
    ...settings,
  };
  const serve = [...program, "serve"];
  if (syncDelayMs === 0)
    return { ...(await started("Curt", port, start(serve, SERVER_CORE, env, logFile), path)), database };
  // Only Curt itself runs on the core of the servers; the tracer that slows it down does not.
  const slowed = ["bench/slow-syncs.ts", String(syncDelayMs), ...pinned(serve, SERVER_CORE)];
  const tracer = start([process.execPath, ...slowed], LOAD_CORE, env);
  return { ...(await started("Curt", port, tracer, path)), pid: firstChild(tracer.pid), database };
}

/** Debian installs it in a folder that only root's PATH has. */
export const nginx = Bun.which("nginx", { PATH: `${process.env["PATH"] ?? ""}:/usr/sbin:/usr/local/sbin` });
export const REFERENCE = nginx === null ? "bare Bun.serve" : "nginx";

/** The reference: nginx, or a bare `Bun.serve` without it. Both have the same links. */
export async function startReference(folder: string, linksFile: string): Promise<Server> {
  if (nginx === null) return startBare(linksFile, "/");
  const port = freePort();
  const home = join(folder, "nginx");
  mkdirSync(home);
  writeFileSync(join(home, "nginx.conf"), nginxConfiguration(home, port, readLinks(linksFile)));
  const command = [nginx, "-e", "stderr", "-p", home, "-c", join(home, "nginx.conf")];
  const supervisor = start(command, SERVER_CORE);
  const server = await started(REFERENCE, port, supervisor, "/");
  return { ...server, pid: firstChild(supervisor.pid) };
}

/**
 * A server that only looks links up in a map, and creates links in a new `database` if it has one. It has started once `path`
 * responds.
 */
export async function startBare(linksFile: string, path: string, ...database: string[]): Promise<Server> {
  const port = freePort();
  const program = [process.execPath, "bench/bare.ts", String(port), linksFile, ...database];
  const bare = start(program, SERVER_CORE);
  return started("bare Bun.serve", port, bare, path);
}

/** The links in a map, one worker, no log: the least that a redirect costs. */
function nginxConfiguration(home: string, port: number, links: readonly Link[]): string {
  return `
daemon off;
worker_processes 1;
pid ${home}/nginx.pid;
error_log stderr warn;
events { worker_connections 1024; }
http {
  access_log off;
  keepalive_requests 1000000000;
  keepalive_timeout 75s;
  client_body_temp_path ${home}/client;
  proxy_temp_path ${home}/proxy;
  fastcgi_temp_path ${home}/fastcgi;
  uwsgi_temp_path ${home}/uwsgi;
  scgi_temp_path ${home}/scgi;
  map_hash_max_size 262144;
  map_hash_bucket_size 256;
  map $uri $target {
    default "";
${links.map(([code, target]) => `/${code} ${target};\n`).join("")}
  }
  server {
    listen 127.0.0.1:${port} backlog=1024;
    location = / { return 204; }
    location / {
      if ($target = "") { return 404; }
      add_header Cache-Control no-store;
      return 302 $target;
    }
  }
}
`;
}

/** Curt and the reference, with the same links. */
export interface Stage {
  readonly curt: Curt;
  readonly reference: Server;
  readonly links: readonly Link[];
  readonly linksFile: string;
}

/** Creates this many links in Curt, and starts a reference with the same ones. `folder` is for its files. */
export async function startStage(curt: Curt, count: number, folder: string): Promise<Stage> {
  const linksFile = join(folder, "links");
  const links = await makeLinks(curt, count, linksFile);
  const reference = await startReference(folder, linksFile);
  return { curt, reference, links, linksFile };
}

/** Creates links through the API and writes them to a file in random order, because visitors come in no order. */
export async function makeLinks(curt: Server, count: number, linksFile: string): Promise<Link[]> {
  const task = { kind: "creates", count: count + SPARE_LINKS, linksFile } as const;
  await generated(MAKING_LIMIT_MS, task)(curt);
  // nginx's map ignores the case of codes.
  const distinct = new Map(readLinks(linksFile).map((link) => [link[0].toLowerCase(), link]));
  const links = shuffled([...distinct.values()]).slice(0, count);
  if (links.length < count) throw new Error(`only ${links.length} of ${count} links were created`);
  writeLinks(linksFile, links);
  return links;
}

/** A free port of the loopback interface. */
export function freePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = listener;
  listener.stop(true);
  return port;
}

/** Resolves with the server once `path` responds with success or a redirect. */
export async function started(name: string, port: number, child: Subprocess, path: string): Promise<Server> {
  const url = `http://127.0.0.1:${port}${path}`;
  const deadlineMs = performance.now() + START_LIMIT_MS;
  while (performance.now() < deadlineMs && child.exitCode === null) {
    const answer = await fetch(url, { redirect: "manual" }).catch(() => undefined);
    if (answer !== undefined && answer.status < 400)
      return { name, port, pid: child.pid, stop: () => stop(child) };
    await Bun.sleep(RETRY_MS);
  }
  throw new Error(`${name} does not answer ${url}; exit code ${child.exitCode ?? "none yet"}`);
}
