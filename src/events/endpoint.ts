import type { Config } from "../config/config.ts";
import { VERSION } from "../lib/version.ts";
import { type EventRow, eventId, toCloudEvent, toText } from "./event-formats.ts";

export type Endpoint = Pick<Config, "eventsUrl" | "eventsSecrets" | "eventsFormat" | "baseUrl" | "domains">;

export interface Failure {
  /** A status or an error's code, never the address: a chat room's is a secret. */
  readonly reason: string;
  /** Retrying doesn't fix a refusal. After 410 (`gone`), the endpoint wants no more requests. */
  readonly kind: "temporary" | "refused" | "gone";
}

export interface PostLimits {
  readonly requestMs?: number | undefined;
}

/** In characters, except for a single event. Express accepts 100 KB. */
export const MAX_BODY = 65_536;
const REQUEST_MS = 10_000;
const TEMPORARY: ReadonlySet<number> = new Set([408, 409, 425, 429]);

/**
 * Sends as many of the first events as fit into a request; as text, only one. Returns their number, and the failure unless
 * the response is 2xx.
 */
export async function post(
  rows: readonly EventRow[],
  endpoint: Endpoint,
  nowMs: number,
  { requestMs = REQUEST_MS }: PostLimits = {},
): Promise<{ readonly count: number; readonly failure: Failure | undefined }> {
  const isText = endpoint.eventsFormat === "text";
  const events = serialize(isText ? rows.slice(0, 1) : rows, endpoint);
  const count = events.length;
  const body = isText ? events.join() : `[${events.join()}]`;
  try {
    const response = await fetch(endpoint.eventsUrl ?? "", {
      method: "POST",
      headers: {
        "Content-Type": isText ? "application/json" : "application/cloudevents-batch+json",
        "User-Agent": `Curt/${VERSION}`,
        ...sign(webhookId(rows.slice(0, count), endpoint), body, endpoint.eventsSecrets, nowMs),
      },
      body,
      redirect: "manual",
      signal: AbortSignal.timeout(requestMs),
    });
    await response.body?.cancel();
    return { count, failure: response.ok ? undefined : failureOf(response.status) };
  } catch (error) {
    // The message may contain the address. The code of a timeout is a number.
    const { code, name } = error as { code?: unknown; name: string };
    return { count, failure: { reason: typeof code === "string" ? code : name, kind: "temporary" } };
  }
}

/** Each of the first events in JSON, as many as fit into a request. */
function serialize(rows: readonly EventRow[], endpoint: Endpoint): readonly string[] {
  let size = 0;
  const format = endpoint.eventsFormat === "text" ? toText : toCloudEvent;
  const events = rows.map((row) => JSON.stringify(format(row, endpoint)));
  const end = events.findIndex((event, nth) => (size += event.length) > MAX_BODY && nth > 0);
  return end < 0 ? events : events.slice(0, end);
}

function failureOf(status: number): Failure {
  const isRefused = status >= 400 && status < 500 && !TEMPORARY.has(status);
  const kind = status === 410 ? "gone" : isRefused ? "refused" : "temporary";
  return { reason: `status ${status}`, kind };
}

/** Names the events, because texts repeat and the body of a retry describes a link that may have changed. */
function webhookId(rows: readonly EventRow[], { baseUrl }: Endpoint): string {
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
