import { type Client, type ClientOptions, createClient, CurtError } from "../../client/client.ts";
import type { ShortAddress } from "../links/short-address.ts";
import type { Environment } from "./command.ts";
import { fail } from "./terminal/print.ts";

export const DEFAULT_URL = "http://localhost:3000";

/**
 * Sends requests to the instance of the environment, or else to `elsewhere`. Resolves with the exit code.
 */
export async function sendRequests(
  environment: Environment,
  act: (client: Client) => Promise<number>,
  elsewhere?: string,
): Promise<number> {
  const instance = instanceOf(environment, elsewhere);
  if (instance === undefined) return 2;
  try {
    return await act(
      createClient(elsewhere === undefined ? instance : { ...instance, fetch: fetchAs(elsewhere) }),
    );
  } catch (error) {
    if (!(error instanceof CurtError)) throw error;
    return fail(`${error.message} (${hint(error, instance)})`);
  }
}

/**
 * Whether a link has this address. For a domain that an instance doesn't have, it returns its own link with the same
 * code.
 */
export function isOf(
  { short_url }: { readonly short_url: string },
  { origin }: ShortAddress,
  { baseUrl }: ClientOptions,
): boolean {
  if (origin === undefined || hostOf(origin) === hostOf(baseUrl)) return true;
  return URL.canParse(short_url) && hostOf(short_url) === hostOf(origin);
}

function hostOf(address: string): string {
  return new URL(address).host;
}

/** Names the domain of a link's address, because another domain of the instance may have the same code. */
function fetchAs(origin: string) {
  const { host: Host } = new URL(origin);
  return (url: string, init: RequestInit) =>
    fetch(url, { ...init, headers: { ...(init.headers as Record<string, string>), Host } });
}

/** How a user can fix the failure. */
function hint({ status, reason, cause }: CurtError, { baseUrl }: ClientOptions): string {
  if (reason.startsWith("token.")) return "set CURT_TOKEN";
  if (cause instanceof Error && /CERT|SELF_SIGNED/.test(String((cause as { code?: unknown }).code)))
    return `${cause.message}; NODE_EXTRA_CA_CERTS names a file with your own authority`;
  return status === 0 ? "set CURT_URL to your instance" : `instance: ${baseUrl}`;
}

/** The instance of the environment. Reports a wrong one, and returns undefined. */
export function instanceOf(
  { CURT_URL, CURT_TOKEN }: Environment,
  elsewhere: string = DEFAULT_URL,
): ClientOptions | undefined {
  const baseUrl = CURT_URL || elsewhere;
  if (/^https?:\/\//i.test(baseUrl) && URL.canParse(baseUrl))
    return { baseUrl, token: CURT_TOKEN || undefined };
  fail(`CURT_URL must be an address such as https://go.example.com, not ${JSON.stringify(baseUrl)}`);
  return undefined;
}
