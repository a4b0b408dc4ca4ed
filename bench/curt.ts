import { fileURLToPath } from "node:url";

import { firstChild } from "./cpu.ts";
import type { Server } from "./measure.ts";
import { freePort, untilAnswering } from "./ports.ts";
import { LOAD_CORE, pinned, SERVER_CORE, startServer, stop } from "./processes.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SLOW_SYNCS = fileURLToPath(import.meta.resolve("./slow-syncs.ts"));
const START_LIMIT_MS = 10_000;

export interface Curt extends Server {
  /** Asks it to end, as its operator would, and waits for it. */
  stop(): Promise<void>;
}

export interface CurtOptions {
  /** Each sync of the disk begins this much later. */
  readonly syncDelayMs?: number;
  /** It has started once this path answers 200 or redirects; without one, when it says that it is ready. */
  readonly answering?: string;
}

/** Curt as its operator starts it, with this database; a new one where there is none. */
export async function startCurt(
  database: string,
  { syncDelayMs = 0, answering = "/readyz" }: CurtOptions = {},
): Promise<Curt> {
  const port = freePort();
  const serve = [process.execPath, "src/main.ts", "serve"];
  const slowed = [process.execPath, SLOW_SYNCS, String(syncDelayMs), ...pinned(serve, SERVER_CORE)];
  const isSlowed = syncDelayMs > 0;
  const child = startServer(isSlowed ? slowed : serve, {
    core: isSlowed ? LOAD_CORE : SERVER_CORE,
    folder: ROOT,
    env: {
      PORT: String(port),
      BASE_URL: `http://localhost:${port}`,
      DATABASE_URL: `sqlite:${database}`,
    },
  });
  await untilAnswering(port, answering, START_LIMIT_MS);
  const pid = isSlowed ? firstChild(child.pid) : child.pid;
  if (pid === undefined) throw new Error("the tracer has no child");
  return { name: "Curt", port, pid, stop: () => stop(child) };
}
