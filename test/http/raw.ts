import { connect } from "node:net";

/** After this time without data, the service isn't going to close a connection. */
const PATIENCE_MS = 60_000;

/**
 * Sends bytes that no HTTP client would send. Returns everything received until the other side closes the connection: a
 * well-formed last request needs `Connection: close`.
 */
export function sendRaw(origin: string, request: string | Uint8Array): Promise<string> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    let received = "";
    const socket = connect(Number(port), hostname, () => socket.write(request));
    socket.setTimeout(PATIENCE_MS, () => {
      reject(new Error(`the connection stays open after ${received}`));
      socket.destroy();
    });
    socket.setEncoding("utf8").on("data", (text) => (received += text));
    socket.on("error", () => {});
    socket.on("close", () => resolve(received));
  });
}

/** Sends bytes and waits, without a time limit, until the other side closes the connection. */
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
 * Sends a part of a request, waits until the service has read it, and closes the connection, either normally (FIN) or
 * with a reset (RST). Returns what was received after that.
 */
export function breakOff(origin: string, part: string, how: "FIN" | "RST"): Promise<string> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve) => {
    let received = "";
    // The service reads both requests together, so the response to the first one shows that the part has arrived.
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
