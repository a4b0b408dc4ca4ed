import type { Socket } from "bun";

import { addresses } from "./connections.ts";

/** Connections opened simultaneously. More don't fit into the queue of a server. */
const AT_ONCE = 100;
/** Pause between two bytes of a connection. */
const PERIOD_MS = 1000;
const TURNS = 200;

/** Opens connections that send one byte per second of an endless header, and reopens those that the server closes. */
export async function openDrips(port: number, count: number, client: string): Promise<void> {
  const drips = new Set<Socket>();
  const open = () =>
    Bun.connect({
      ...addresses(port, client),
      socket: {
        open(drip) {
          drips.add(drip);
          drip.write("GET /drip HTTP/1.1\r\nHost: localhost\r\nX-Drip: ");
        },
        data() {},
        close: reopen,
        error: reopen,
      },
    });
  function reopen(drip: Socket): void {
    if (drips.delete(drip)) open().catch(() => {});
  }
  while (drips.size < count)
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - drips.size) }, open));
  let turn = 0;
  setInterval(() => {
    turn = (turn + 1) % TURNS;
    let nth = 0;
    for (const drip of drips) if (nth++ % TURNS === turn) drip.write("a");
  }, PERIOD_MS / TURNS);
}
