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
