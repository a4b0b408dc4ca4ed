import type { Config } from "../config/config.ts";
import { pathOf } from "../http/url.ts";
import type { Snapshot } from "../metrics/catalogue.ts";
import { CONTENT_TYPE, textOf } from "../metrics/text-format.ts";
import { CannotListen, NO_ERROR_PAGE, whyNotListen } from "./listen.ts";

/** All requests within this time share one snapshot of the processes. */
const SHARED_MS = 1000;
/** Closes the connections of slow readers. */
const IDLE_SECONDS = 20;
/** A request has no body. */
const MAX_BODY_BYTES = 1024;

/** Answers GET /metrics on a port of its own until the process ends. Returns the port. Throws {@link CannotListen}. */
export function serveMetrics(
  { host, port }: NonNullable<Config["metrics"]>,
  read: () => Promise<readonly Snapshot[]>,
): number {
  let text = Promise.resolve("");
  let untilMs = 0;

  function share(): Promise<string> {
    if (performance.now() < untilMs) return text;
    untilMs = Number.POSITIVE_INFINITY;
    text = read().then(textOf);
    const settle = () => void (untilMs = performance.now() + SHARED_MS);
    text.then(settle, settle);
    return text;
  }

  const fetch = async (request: Request): Promise<Response> => {
    const { method } = request;
    if (pathOf(request) !== "/metrics") return new Response("Metrics are at /metrics.\n", { status: 404 });
    if (method !== "GET" && method !== "HEAD")
      return new Response(null, { status: 405, headers: { Allow: "GET, HEAD" } });
    return new Response(await share(), { headers: { "Content-Type": CONTENT_TYPE } });
  };

  try {
    const options = { hostname: host, port, idleTimeout: IDLE_SECONDS, maxRequestBodySize: MAX_BODY_BYTES };
    const server = Bun.serve({ ...options, ...NO_ERROR_PAGE, reusePort: false, fetch });
    return server.port ?? port;
  } catch (cause) {
    const reason = whyNotListen(cause, host, port);
    throw new CannotListen(`cannot listen on METRICS_PORT ${port} at ${host}: ${reason}`, {
      cause,
    });
  }
}
