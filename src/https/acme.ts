import { generateKeyPairSync } from "node:crypto";

/** HTTP-01 (RFC 8555, section 8.3): what the authority must find on port 80, by token. */
export type Challenges = Map<string, string>;

export interface Order {
  /** Address of the authority's ACME directory. */
  readonly directory: string;
  /** PEM. */
  readonly accountKey: string;
  /** A mailto: address for the authority, or null. */
  readonly contact: string | null;
  readonly hosts: readonly string[];
  /** Has what the authority must find, as long as it may ask. */
  readonly challenges: Challenges;
  readonly nowMs: () => number;
  /** How long it may take. Tests need not wait. */
  readonly limitMs?: number;
}

export type Ordered =
  | { readonly cert: string; readonly key: string }
  /** `waitMs`: the authority wants no other order before. */
  | { readonly trouble: string; readonly waitMs: number };

/** For each request to the authority. */
const TIMEOUT_MS = 30_000;
/** For the whole order. An authority that sends a byte now and then must not stop the renewals. */
const ORDER_LIMIT_MS = 900_000;
const MAX_ANSWER_BYTES = 1024 * 1024;
/** In characters. What an authority answers may be a page. */
const MAX_TROUBLE_LENGTH = 500;
/** How often, and how soon, the authority is asked whether it has checked a host. */
const ASKS = { backoffAttempts: 12, backoffMin: 1000, backoffMax: 10_000 };

/** A new private key (P-256), as PEM. */
export function createKey(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return privateKey.export({ type: "pkcs8", format: "pem" });
}

/** Orders a certificate for the hosts, with a key of its own. Never throws. */
export async function orderCertificate(order: Order): Promise<Ordered> {
  const { directory, accountKey, contact, hosts, challenges, nowMs } = order;
  let waitMs = 0;
  const tooLate = AbortSignal.timeout(order.limitMs ?? ORDER_LIMIT_MS);
  try {
    // Large, and needed once in two months.
    const { axios, Client, crypto } = await import("acme-client");
    // Its own interceptors ask again sooner than authorities allow, and lose the reason if there is no answer.
    axios.interceptors.request.clear();
    axios.interceptors.response.clear();
    axios.interceptors.response.use((response) => {
      if (response.status >= 400)
        waitMs = Math.max(waitMs, retryAfterMs(response.headers["retry-after"], nowMs()));
      return response;
    });
    Object.assign(axios.defaults, {
      timeout: TIMEOUT_MS,
      signal: tooLate,
      maxContentLength: MAX_ANSWER_BYTES,
    });
    const client = new Client({ directoryUrl: directory, accountKey, ...ASKS });
    const key = createKey();
    const [, csr] = await crypto.createCsr({ altNames: [...hosts] }, key);
    // Otherwise, an account that exists would be updated with nothing, which Pebble refuses. If there is none, `auto` makes it.
    if (contact === null) await client.createAccount({ onlyReturnExisting: true }).catch(() => {});
    const cert = await client.auto({
      csr,
      ...(contact !== null && { email: contact.slice("mailto:".length) }),
      termsOfServiceAgreed: true,
      challengePriority: ["http-01"],
      // Asking our own port 80 first would fail behind routers that cannot reach themselves.
      skipChallengeVerification: true,
      challengeCreateFn: async (_, { type, token }, keyAuthorization) => {
        if (type !== "http-01") throw new Error("the certificate authority offers no HTTP-01 challenge");
        challenges.set(token, keyAuthorization);
      },
      challengeRemoveFn: async (_, { token }) => void challenges.delete(token),
    });
    return { cert, key };
  } catch (cause) {
    if (tooLate.aborted) return { trouble: "the certificate authority took too long", waitMs };
    const trouble = cause instanceof Error ? cause.message || cause.name : String(cause);
    return { trouble: trouble.slice(0, MAX_TROUBLE_LENGTH), waitMs };
  }
}

/** RFC 9110, section 10.2.3: seconds, or a date. */
function retryAfterMs(value: unknown, nowMs: number): number {
  const seconds = Number(value);
  const ms = Number.isNaN(seconds) ? Date.parse(String(value)) - nowMs : seconds * 1000;
  return ms > 0 ? ms : 0;
}
