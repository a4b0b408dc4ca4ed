import { bind, stopNow } from "../http/server.ts";
import type { Challenges } from "./acme.ts";

const CHALLENGE = /^\/\.well-known\/acme-challenge\/([\w-]{1,128})$/;
const IDLE_SECONDS = 10;

export interface PlainOptions {
  readonly host: string;
  readonly port: number;
  readonly baseUrl: string;
  readonly challenges: Challenges;
  /** Whether HTTPS can answer. */
  readonly isReady: () => boolean;
}

/** Answers http:// addresses: each leads to the same path at https://. Throws `CannotListen`. */
export function servePlain({ host, port, baseUrl, challenges, isReady }: PlainOptions) {
  const origin = new URL(baseUrl).origin;
  const servers = bind(host, port, {
    setting: "HTTP_PORT",
    idleTimeout: IDLE_SECONDS,
    fetch({ url }) {
      // Bun gives a path alone if the request names no host, or a wrong one. What it names is not used.
      const path = url.replace(/^https?:\/\/[^/?#]*/i, "");
      const [, token] = CHALLENGE.exec(path) ?? [];
      if (token !== undefined) return tell(challenges.get(token));
      if (!isReady())
        return new Response(NOT_READY, { status: 503, headers: { ...TEXT, "Retry-After": "30" } });
      const Location = `${origin}${path.startsWith("/") ? ascii(path) : "/"}`;
      return new Response(null, { status: 308, headers: { Location, "Cache-Control": "no-store" } });
    },
  });
  return { port: servers[0]?.port ?? port, close: () => stopNow(servers) };
}

const TEXT = { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store" };
const NOT_READY = "This service waits for its certificate. Try again in a minute.\n";

function tell(keyAuthorization: string | undefined): Response {
  return new Response(keyAuthorization ?? "unknown\n", {
    status: keyAuthorization === undefined ? 404 : 200,
    headers: TEXT,
  });
}

const ascii = (path: string) => path.toWellFormed().replace(/[^\x21-\x7E]+/g, encodeURIComponent);
