import { serveStdio } from "@modelcontextprotocol/server/stdio";

import type { ClientOptions } from "../../client/client.ts";
import { createInstance } from "./instance.ts";
import { createTools } from "./tools.ts";

/** Resolves when nobody writes to standard input or reads standard output any more. */
export async function serveTools(options: ClientOptions): Promise<void> {
  const instance = createInstance(options);
  const ended = Promise.withResolvers<void>();
  process.stdin.once("end", ended.resolve).once("close", ended.resolve);
  process.stdout.once("error", () => ended.resolve());
  const connection = serveStdio(() => createTools({ instance, nowMs: Date.now }), {
    onerror: (error) => console.error(`curt: ${error.message}`),
  });
  await ended.promise;
  await connection.close();
}
