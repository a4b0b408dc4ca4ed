import { answer } from "./answers.ts";
import { bind, stopNow } from "./server.ts";

/** HTTP-01 (RFC 8555, section 8.3). */
const CHALLENGE = /^\/\.well-known\/acme-challenge\/([\w-]{1,128})$/;
const IDLE_SECONDS = 10;
const TEXT = "text/plain; charset=utf-8";

export interface PlainOptions {
  readonly host: string;
  readonly port: number;
  readonly baseUrl: string;
  /** What a certificate authority must find, by token. */
  readonly challenges: ReadonlyMap<string, string>;
  /** Whether HTTPS can answer. */
  readonly isReady: () => boolean;
}

/** Answers http:// addresses: each leads to the same path at https://. Throws `CannotListen`. */
export function servePlain({ host, port, baseUrl, challenges, isReady }: PlainOptions) {
  const { origin } = new URL(baseUrl);
  const servers = bind(host, port, {
    setting: "HTTP_PORT",
    idleTimeout: IDLE_SECONDS,
    fetch({ url }) {
      // Bun gives a path alone if the request names no host, or a wrong one. What it names is not used.
      const path = url.replace(/^https?:\/\/[^/?#]*/i, "");
      const [, token] = CHALLENGE.exec(path) ?? [];
      if (token !== undefined) return tell(challenges.get(token));
      if (!isReady()) return notReady();
      const Location = `${origin}${path.startsWith("/") ? ascii(path) : "/"}`;
      return answer({ status: 308, headers: { Location, "Cache-Control": "no-store" } });
    },
  });
  return { port: servers[0]?.port ?? port, close: () => stopNow(servers) };
}

function tell(keyAuthorization: string | undefined): Response {
  if (keyAuthorization === undefined) return answer({ status: 404, body: "unknown\n", type: TEXT });
  return answer({ body: keyAuthorization, type: TEXT });
}

function notReady(): Response {
  const body = "This service waits for its certificate. Try again in a minute.\n";
  return answer({ status: 503, body, type: TEXT, headers: { "Retry-After": "30" } });
}

const ascii = (path: string) => path.toWellFormed().replace(/[^\x21-\x7E]+/g, encodeURIComponent);
