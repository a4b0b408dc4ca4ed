import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { readConfig } from "../config/config.ts";
import { ownProgram } from "../server/process-pool.ts";
import type { Arguments, Environment } from "./command.ts";
import { fillStore } from "./demo/sample-life.ts";
import { note } from "./terminal/print.ts";

/** The command that serves one store, until the next one takes its place. */
export const DEMO_SERVER = "serve-demo";
const LASTS_MS = 3_600_000;
const NAME = "Curt demo, emptied every hour";
/** Everybody may try to moderate. */
const ADMIN_TOKEN = "curt-demo-operator";
/** Others would reach beyond the demonstration, or keep something of it. */
const PASSED_ON = [
  "PATH",
  "HOME",
  "TMPDIR",
  "HOST",
  "PORT",
  "BASE_URL",
  "TRUSTED_PROXIES",
  "CONTACT",
  "LOG_LEVEL",
];

/**
 * Serves a temporary store full of links, and replaces it every hour, until SIGTERM or SIGINT. Links may only have destinations of
 * examples, so that anybody can host it. Returns the exit code.
 */
export async function demo(environment: Environment, _: Arguments, lastsMs = LASTS_MS): Promise<number> {
  const stop = new AbortController();
  const stopped = new Promise((resolve) => stop.signal.addEventListener("abort", resolve));
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => stop.abort());
  const passedOn = Object.fromEntries(
    PASSED_ON.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])),
  );
  note(`Its operator signs in with ${ADMIN_TOKEN}. Everything is deleted once an hour, and at the end.`);
  await using stores = new AsyncDisposableStack();
  /** Settings of a new store, which is deleted at the end. */
  async function createStore() {
    const folder = mkdtempSync(join(tmpdir(), "curt-demo-"));
    stores.defer(() => rmSync(folder, { recursive: true, force: true }));
    const settings = { ...passedOn, INSTANCE_NAME: NAME, DATA_DIR: folder, ADMIN_TOKEN };
    await fillStore(readConfig(settings), stop.signal);
    return { ...settings, folder };
  }
  let store = await createStore();
  while (!stop.signal.aborted) {
    const { folder, ...settings } = store;
    const child = Bun.spawn([...ownProgram(), DEMO_SERVER], {
      // With npm_command, it ends if this process is killed.
      env: { ...settings, npm_command: "exec" },
      stdio: ["ignore", "inherit", "inherit"],
    });
    const hasEnded = await Promise.race([
      Bun.sleep(lastsMs).then(() => false),
      child.exited.then(() => true),
      stopped.then(() => false),
    ]);
    // Ready before the server stops, so that the next one starts immediately.
    if (!hasEnded && !stop.signal.aborted) store = await createStore();
    child.kill("SIGTERM");
    const code = await child.exited;
    if (hasEnded) return code;
    rmSync(folder, { recursive: true });
  }
  return 0;
}
