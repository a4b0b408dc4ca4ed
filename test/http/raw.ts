import { connect } from "node:net";

/** For the first byte, which on a busy machine takes its time. */
const PATIENCE_MS = 60_000;

/**
 * Sends bytes as they are, which no HTTP client would, and returns all that came back until the other side
 * closed or, once it had begun, said nothing more for `quietMs`.
 */
export function sendRaw(origin: string, request: string | Uint8Array, quietMs = 400): Promise<string> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve) => {
    let received = "";
    const socket = connect(Number(port), hostname, () => socket.write(request));
    socket.setTimeout(PATIENCE_MS, () => socket.destroy());
    socket.setEncoding("utf8").on("data", (text) => {
      received += text;
      socket.setTimeout(quietMs);
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(received));
  });
}

/** Sends bytes and waits until the other side closes the connection; it never gives up by itself. */
export function untilClosed(origin: string, request: string): Promise<void> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(request));
    socket.resume();
    socket.on("error", () => {});
    socket.on("close", () => resolve());
  });
}

/**
 * Sends a part of a request, waits until the service has read it, and ends the connection in order (FIN) or at once
 * (RST). Returns what came back after that.
 */
export function breakOff(origin: string, part: string, how: "FIN" | "RST"): Promise<string> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve) => {
    let received = "";
    // What comes in one piece is read in one piece: the answer of the first request tells that the part arrived.
    const socket = connect(Number(port), hostname, () =>
      socket.write(`GET /livez HTTP/1.1\r\nHost: x\r\n\r\n${part}`),
    );
    let isBroken = false;
    socket.setEncoding("utf8").on("data", (text) => {
      received += text;
      if (isBroken || !received.includes('"live"}')) return;
      isBroken = true;
      received = "";
      if (how === "RST") socket.resetAndDestroy();
      else socket.end();
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(received));
  });
}
