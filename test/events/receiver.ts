import { Webhook } from "standardwebhooks";

import type { RunningService } from "../support/service.ts";

export const SECRET = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
export const OLD_SECRET = `whsec_${Buffer.alloc(24, 2).toString("base64")}`;

export interface Received {
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly subject: string;
  readonly time: string;
  readonly data: Record<string, unknown>;
}

export interface ReceiverOptions {
  readonly port?: number;
  /** The status of the answer to the nth request. */
  readonly status?: (nth: number, body: string) => number;
}

/** Starts an endpoint for events, which checks each signature with another implementation. */
export function startReceiver({ port = 0, status = () => 204 }: ReceiverOptions = {}) {
  const requests: { readonly headers: Headers; readonly body: string; readonly status: number }[] = [];
  /** Requests without a valid signature. */
  const faults: string[] = [];
  /** Events of requests with a 2xx response, in order, with repetitions. */
  const events: Received[] = [];
  const server = Bun.serve({
    port,
    hostname: "127.0.0.1",
    async fetch(request) {
      const body = await request.text();
      const answer = status(requests.length, body);
      requests.push({ headers: request.headers, body, status: answer });
      const [id, seconds, signatures] = ["id", "timestamp", "signature"].map(
        (name) => request.headers.get(`webhook-${name}`) ?? "",
      ) as [string, string, string];
      // `verify` would refuse the time of a service that a test has advanced.
      const signature = new Webhook(SECRET).sign(id, new Date(Number(seconds) * 1000), body);
      if (signatures.split(" ").includes(signature)) {
        if (answer < 300) events.push(...[JSON.parse(body)].flat());
      } else faults.push(`${id}: ${signatures}`);
      return new Response("ignored", { status: answer, headers: { Location: "/elsewhere" } });
    },
  });
  return {
    port: server.port ?? 0,
    settings: { EVENTS_URL: `http://127.0.0.1:${server.port}/events`, EVENTS_SECRET: SECRET },
    requests,
    events,
    faults,
    async until(count: number): Promise<void> {
      while (new Set(events.map(({ id }) => id)).size < count && faults.length === 0) await Bun.sleep(5);
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

/** Calls the operator's API. */
export const ADMIN_TOKEN = "a".repeat(32);
export function operate(service: Pick<RunningService, "fetch">, method: string, path: string, body?: object) {
  return service.fetch(`/api/v1/admin/${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${ADMIN_TOKEN}`,
      "Content-Type": "application/json",
      "If-Match": "*",
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}
