import { connect } from "node:net";

import type { RunningService } from "../support/service.ts";

/** The service reads a request behind this one together with it, so the response shows that both have arrived. */
const LIVE = { request: "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n", end: '"live"}' };
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
    const socket = connect(Number(port), hostname, () => socket.write(LIVE.request + part));
    let isBroken = false;
    socket.setEncoding("utf8").on("data", (text) => {
      received += text;
      if (isBroken || !received.includes(LIVE.end)) return;
      isBroken = true;
      received = "";
      if (how === "RST") socket.resetAndDestroy();
      else socket.end();
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(received));
  });
}

/** Sends a request without the end of its body. `hasStarted` resolves once Curt has read that much. */
export function beginRequest(
  { origin }: Pick<RunningService, "origin">,
  line: string,
  headers: Readonly<Record<string, string>>,
  body: string,
) {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname).setEncoding("utf8");
  const [method = "", path = ""] = line.split(" ");
  const all = { Host: "x", "Content-Length": String(body.length), Connection: "close", ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`${LIVE.request}${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body.slice(0, -1)}`);
  const { promise: hasStarted, resolve: start } = Promise.withResolvers<void>();
  let received = "";
  socket.on("data", (text: string) => {
    received += text;
    if (received.includes(LIVE.end)) start();
  });
  const closed = new Promise((resolve) => socket.on("close", resolve));
  return {
    hasStarted,
    async end(): Promise<number> {
      socket.write(body.slice(-1));
      await closed;
      return Number(received.slice(received.indexOf(LIVE.end) + LIVE.end.length).split(" ")[1]);
    },
  };
}
