import http from "node:http";
import https from "node:https";

import type { Config } from "../config/config.ts";
import { VERSION } from "../lib/version.ts";
import { type EventRow, eventId, toCloudEvent, toText } from "./event-formats.ts";

export type EventsEndpoint = Pick<
  Config,
  "eventsUrl" | "eventsSecrets" | "eventsFormat" | "baseUrl" | "domains"
>;

export interface Failure {
  /** A status or an error's code, never the address: a chat room's is a secret. */
  readonly reason: string;
  /** A refusal is about the events in the request, other failures about the endpoint. */
  readonly kind: "temporary" | "refused";
}

export interface PostLimits {
  readonly requestMs?: number | undefined;
}

/** In characters, except for a single event and for retries, whose links may have changed. Express accepts 100 KB. */
export const MAX_BODY = 65_536;
const REQUEST_MS = 10_000;
const MAX_INFORMATIONAL = 10;
const TEMPORARY: ReadonlySet<number> = new Set([408, 409, 410, 425, 429]);

/** Returns as many of the first events as fit into a request. */
export function chooseBatch(rows: readonly EventRow[], endpoint: EventsEndpoint): readonly EventRow[] {
  // Each event has a bracket or a comma before it, and the last one a bracket after it.
  let size = 1;
  const isOver = (row: EventRow) =>
    (size += 1 + JSON.stringify(toCloudEvent(row, endpoint)).length) > MAX_BODY;
  const end = rows.findIndex((row, nth) => isOver(row) && nth > 0);
  return end < 0 ? rows : rows.slice(0, end);
}

/** Sends a batch; as text, only one event. Returns the failure unless the response is 2xx. */
export async function post(
  batch: readonly EventRow[],
  endpoint: EventsEndpoint,
  nowMs: number,
  { requestMs = REQUEST_MS }: PostLimits = {},
): Promise<Failure | undefined> {
  const isText = endpoint.eventsFormat === "text";
  const events = batch.map((row) => (isText ? toText : toCloudEvent)(row, endpoint));
  const body = JSON.stringify(isText ? events[0] : events);
  const headers = {
    "Content-Type": isText ? "application/json" : "application/cloudevents-batch+json",
    "User-Agent": `Curt/${VERSION}`,
    ...sign(webhookId(batch, endpoint), body, endpoint.eventsSecrets, nowMs),
  };
  try {
    const status = await send(endpoint.eventsUrl ?? "", headers, body, AbortSignal.timeout(requestMs));
    return status >= 200 && status < 300 ? undefined : failureOf(status);
  } catch (error) {
    // The message may contain the address. The code of a timeout is a number.
    const { code, name } = error as { code?: unknown; name: string };
    return { reason: typeof code === "string" ? code : name, kind: "temporary" };
  }
}

/**
 * Returns the status without reading the body. `fetch` would decompress it, 16 KB of zstd to 1 GB, and accept any number of
 * 1xx responses.
 */
function send(
  url: string,
  headers: Record<string, string>,
  body: string,
  signal: AbortSignal,
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const { request } = url.startsWith("https:") ? https : http;
  const sending = request(url, { method: "POST", headers, signal, agent: false }, (response) => {
    resolve(response.statusCode ?? 0);
    response.destroy();
  });
  let informed = 0;
  sending.on("information", () => {
    if (++informed > MAX_INFORMATIONAL) sending.destroy(new Error("Too many 1xx responses"));
  });
  // After a timeout, the error of the request only says that it was aborted.
  sending.on("error", (error) => reject(signal.aborted ? signal.reason : error));
  sending.end(body);
  return promise;
}

function failureOf(status: number): Failure {
  const isRefused = status >= 400 && status < 500 && !TEMPORARY.has(status);
  return { reason: `status ${status}`, kind: isRefused ? "refused" : "temporary" };
}

/** Names the events, because texts repeat and the body of a retry describes a link that may have changed. */
function webhookId(rows: readonly EventRow[], { baseUrl }: EventsEndpoint): string {
  const named = [baseUrl, ...rows.map(eventId)].join(" ");
  return `msg_${new Bun.CryptoHasher("sha256").update(named).digest("hex").slice(0, 32)}`;
}

/** Returns the headers of Standard Webhooks (https://www.standardwebhooks.com), none without a secret. */
function sign(id: string, body: string, secrets: readonly string[], nowMs: number): Record<string, string> {
  if (secrets.length === 0) return {};
  const timestamp = String(Math.floor(nowMs / 1000));
  const signatures = secrets.map(
    (secret) =>
      `v1,${new Bun.CryptoHasher("sha256", Buffer.from(secret, "base64")).update(`${id}.${timestamp}.${body}`).digest("base64")}`,
  );
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  };
}
