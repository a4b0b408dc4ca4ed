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
  /** Retrying doesn't fix a refusal. After 410 (`gone`), the endpoint wants no more requests. */
  readonly kind: "temporary" | "refused" | "gone";
}

export interface PostLimits {
  readonly requestMs?: number | undefined;
}

/** In characters, except for a single event and for retries, whose links may have changed. Express accepts 100 KB. */
export const MAX_BODY = 65_536;
const REQUEST_MS = 10_000;
const TEMPORARY: ReadonlySet<number> = new Set([408, 409, 425, 429]);

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
  try {
    const response = await fetch(endpoint.eventsUrl ?? "", {
      method: "POST",
      headers: {
        "Content-Type": isText ? "application/json" : "application/cloudevents-batch+json",
        "User-Agent": `Curt/${VERSION}`,
        ...sign(webhookId(batch, endpoint), body, endpoint.eventsSecrets, nowMs),
      },
      body,
      redirect: "manual",
      signal: AbortSignal.timeout(requestMs),
    });
    await response.body?.cancel();
    return response.ok ? undefined : failureOf(response.status);
  } catch (error) {
    // The message may contain the address. The code of a timeout is a number.
    const { code, name } = error as { code?: unknown; name: string };
    return { reason: typeof code === "string" ? code : name, kind: "temporary" };
  }
}

function failureOf(status: number): Failure {
  const isRefused = status >= 400 && status < 500 && !TEMPORARY.has(status);
  const kind = status === 410 ? "gone" : isRefused ? "refused" : "temporary";
  return { reason: `status ${status}`, kind };
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
