import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { firstChild } from "./cpu.ts";
import type { BenchLink } from "./links.ts";
import type { Server } from "./measure.ts";
import { freePort, untilAnswering } from "./ports.ts";
import { SERVER_CORE, startServer } from "./processes.ts";

const START_LIMIT_MS = 10_000;

export const NGINX_NAME = "nginx";
/** Debian keeps it where only root's PATH looks. */
export const nginx = Bun.which("nginx", { PATH: `${process.env["PATH"] ?? ""}:/usr/sbin:/usr/local/sbin` });

/** nginx with the links in a map, one worker, no log: the least that a redirect costs. */
export async function startNginx(
  program: string,
  folder: string,
  links: readonly BenchLink[],
): Promise<Server> {
  const port = freePort();
  const home = join(folder, "nginx");
  mkdirSync(home);
  writeFileSync(join(home, "links.map"), links.map(([code, target]) => `/${code}/ ${target};\n`).join(""));
  writeFileSync(join(home, "nginx.conf"), configuration(home, port));
  const master = startServer([program, "-e", "stderr", "-p", home, "-c", join(home, "nginx.conf")], {
    core: SERVER_CORE,
  });
  await untilAnswering(port, "/", START_LIMIT_MS);
  const worker = firstChild(master.pid);
  if (worker === undefined) throw new Error("nginx has no worker");
  return { name: NGINX_NAME, port, pid: worker };
}

function configuration(home: string, port: number): string {
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
  map $uri $target { default ""; include ${home}/links.map; }
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
