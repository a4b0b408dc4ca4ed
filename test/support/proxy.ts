import { connect, createServer, type Socket } from "node:net";

import { freePort } from "./free-port.ts";

/** Forwards connections to a port of this machine, as a network does. */
export interface Proxy extends AsyncDisposable {
  readonly port: number;
  /** Connections so far. */
  readonly accepted: number;
  /** The open ones among them. */
  readonly open: number;
  /** Breaks all connections with a reset. */
  reset(): void;
  /** Drops everything sent over the present connections. New ones work. */
  silence(): void;
  /** Delays each piece by `ms`, in either direction. */
  delay(ms: number): void;
  /** Forwards new connections to another port. Undefined resets them. */
  lead(port: number | undefined): void;
}

export async function startProxy(toPort: number): Promise<Proxy> {
  const port = await freePort();
  const pairs = new Set<{ readonly sockets: readonly Socket[]; isSilent: boolean }>();
  let target: number | undefined = toPort;
  let delayMs = 0;
  let accepted = 0;

  const server = createServer((client) => {
    accepted++;
    client.on("error", () => {});
    if (target === undefined) return void client.resetAndDestroy();
    const upstream = connect(target, "127.0.0.1");
    const pair = { sockets: [client, upstream], isSilent: false };
    pairs.add(pair);
    const forward = (from: Socket, to: Socket) => {
      from.on("error", () => {});
      from.on("data", (piece) => {
        if (pair.isSilent) return;
        if (delayMs === 0) to.write(piece);
        else setTimeout(() => to.write(piece), delayMs);
      });
      from.on("close", () => {
        if (!pair.isSilent) to.destroy();
        pairs.delete(pair);
      });
    };
    forward(client, upstream);
    forward(upstream, client);
  });
  await new Promise<void>((resolve) => {
    server.listen(port, "127.0.0.1", resolve);
  });

  function breakAll(how: (socket: Socket) => void): void {
    for (const { sockets } of pairs) for (const socket of sockets) how(socket);
    pairs.clear();
  }

  return {
    port,
    get accepted() {
      return accepted;
    },
    get open() {
      return pairs.size;
    },
    reset: () => breakAll((socket) => socket.resetAndDestroy()),
    silence() {
      for (const pair of pairs) pair.isSilent = true;
    },
    delay(ms) {
      delayMs = ms;
    },
    lead(to) {
      target = to;
    },
    async [Symbol.asyncDispose]() {
      breakAll((socket) => socket.destroy());
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
