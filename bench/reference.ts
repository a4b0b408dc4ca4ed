import { fileURLToPath } from "node:url";

import { readLinks } from "./links.ts";
import type { Server } from "./measure.ts";
import { nginx, NGINX_NAME, startNginx } from "./nginx.ts";
import { freePort, untilAnswering } from "./ports.ts";
import { SERVER_CORE, startServer } from "./processes.ts";

const BARE = fileURLToPath(import.meta.resolve("./bare.ts"));
const BARE_NAME = "bare Bun.serve";
export const REFERENCE = nginx === null ? BARE_NAME : NGINX_NAME;
const START_LIMIT_MS = 10_000;

/** What Curt is compared with: nginx, or where there is none a bare `Bun.serve`. Both know the same links. */
export function startReference(folder: string, linksFile: string): Promise<Server> {
  return nginx === null ? startBare(linksFile) : startNginx(nginx, folder, readLinks(linksFile));
}

async function startBare(linksFile: string): Promise<Server> {
  const port = freePort();
  const { pid } = startServer([process.execPath, BARE, String(port), linksFile], { core: SERVER_CORE });
  await untilAnswering(port, "/", START_LIMIT_MS);
  return { name: BARE_NAME, port, pid };
}
