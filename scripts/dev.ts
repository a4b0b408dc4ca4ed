// `npm run dev`: serves from a database of its own, and starts the server again after every change in src/.
import { watch } from "node:fs";
import { resolve } from "node:path";

import { DATABASE_URL, ROOT } from "./development.ts";

/** An editor that saves may touch a file several times. */
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
  // A second signal does not wait for what is under way.
  server.kill("SIGTERM");
  server.kill("SIGTERM");
  await server.exited;
  server = start();
}

// Styles, catalogues and browser scripts are read while the program is compiled, where `bun --watch` does not see them.
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
