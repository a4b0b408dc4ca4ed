import { fileURLToPath } from "node:url";

import type { Server } from "./measure.ts";
import { freePort, untilAnswering } from "./ports.ts";
import { SERVER_CORE, startServer } from "./processes.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const START_LIMIT_MS = 10_000;

/** Curt as its operator starts it, with a new database in `folder`. */
export async function startCurt(folder: string): Promise<Server> {
  const port = freePort();
  const { pid } = startServer([process.execPath, "src/main.ts", "serve"], {
    core: SERVER_CORE,
    folder: ROOT,
    env: {
      PORT: String(port),
      BASE_URL: `http://localhost:${port}`,
      DATABASE_URL: `sqlite:${folder}/curt.db`,
    },
  });
  await untilAnswering(port, "/readyz", START_LIMIT_MS);
  return { name: "Curt", port, pid };
}
