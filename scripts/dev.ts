// `npm run dev`: serves a development database, and restarts the server after every change in src/.
import { watch } from "node:fs";
import { resolve } from "node:path";

import { DATABASE_URL, ROOT } from "./development.ts";

/** Editors may write a file several times when saving, so wait until it is quiet. */
const QUIET_MS = 100;

let server = start();
let restarting: Promise<void> | undefined;
let timer: NodeJS.Timeout | undefined;

function start() {
  return Bun.spawn([process.execPath, "src/main.ts", "serve"], {
    cwd: ROOT,
    env: { LOG_LEVEL: "debug", ...process.env, DATABASE_URL },
    stdio: ["ignore", "inherit", "inherit"],
  });
}

async function restart(): Promise<void> {
  // The second signal stops the server immediately, without waiting for open requests. An equal one would count as the first.
  server.kill("SIGTERM");
  server.kill("SIGINT");
  await server.exited;
  server = start();
}

// `bun --watch` would miss changes of styles, catalogues and browser scripts, because macros read them.
watch(resolve(ROOT, "src"), { recursive: true }, () => {
  clearTimeout(timer);
  timer = setTimeout(() => {
    restarting = (restarting ?? Promise.resolve()).then(restart);
  }, QUIET_MS);
});

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    server.kill(signal);
    void server.exited.then((code) => process.exit(code));
  });
}
