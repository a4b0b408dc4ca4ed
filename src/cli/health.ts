import { reasonOf } from "../lib/error-reason.ts";
import type { Environment } from "./command.ts";
import { instanceOf } from "./instance-request.ts";
import { fail, print } from "./terminal/print.ts";

/** Below the usual timeout of a container's health check. */
const PATIENCE_MS = 4000;

/** Checks whether a server is ready, by default the one with the environment's settings. Returns the exit code. */
export async function health(environment: Environment): Promise<number> {
  const instance = instanceOf(environment, here(environment));
  if (instance === undefined) return 2;
  const { href } = new URL("/readyz", instance.baseUrl);
  // The certificate of the server in this environment is for its public name, not for localhost.
  const tls = { rejectUnauthorized: Boolean(environment["CURT_URL"]) };
  try {
    const { status } = await fetch(href, {
      redirect: "manual",
      decompress: false,
      tls,
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    if (status !== 200) return fail(`not ready: ${href} answers ${status}`);
  } catch (error) {
    const isRefused = (error as { code?: unknown }).code === "ECONNREFUSED";
    const reason = isRefused
      ? "nothing listens there. Is the server stopped, or its PORT not in this environment?"
      : reasonOf(error);
    return fail(`not ready: ${href} does not answer: ${reason}`);
  }
  print("ready");
  return 0;
}

/** Where the server with these settings listens. */
function here({ HOST, PORT, TLS_CERT }: Environment): string {
  const isSecure = Boolean(TLS_CERT);
  const port = PORT || (isSecure ? 443 : 3000);
  return `${isSecure ? "https" : "http"}://${reachable(HOST)}:${port}`;
}

/** Replaces addresses that mean all addresses, because nobody can connect to them. */
function reachable(host = ""): string {
  if (host === "" || host === "0.0.0.0" || host === "::") return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}
