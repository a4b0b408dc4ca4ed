import { createServer } from "node:net";

/** Below the range of outgoing connections. */
const FIRST = 20_000;
const PORTS = 6000;

/**
 * Returns a port that no other test gets, in any process, because it may take a while until something listens on it. This process
 * reserves it by listening on another port until it ends.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * PORTS);
    const reserved = await listenOn(port + PORTS);
    if (reserved === undefined) continue;
    reserved.unref();
    const tried = await listenOn(port);
    if (tried === undefined) continue;
    await new Promise((resolve) => {
      tried.close(resolve);
    });
    return port;
  }
}

function listenOn(port: number) {
  const { promise, resolve } = Promise.withResolvers<ReturnType<typeof createServer> | undefined>();
  const server = createServer();
  server.once("error", () => resolve(undefined));
  server.listen(port, "127.0.0.1", () => resolve(server));
  return promise;
}
