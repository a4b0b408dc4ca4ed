import { createServer } from "node:net";

/** Below the range from which outgoing connections take theirs. */
const FIRST = 20_000;
const PORTS = 6000;

/**
 * A port that no other test gets, in whichever process it runs: it may take a while until something listens on it. What reserves
 * the port is that this process listens on another one, for as long as it lives.
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
