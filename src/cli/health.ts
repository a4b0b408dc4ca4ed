import { instanceOf } from "./ask.ts";
import type { Environment } from "./command.ts";
import { fail } from "./print.ts";

/** Whoever asks for the health of a container gives up a little later. */
const PATIENCE_MS = 4000;

/** Asks a server whether it is ready, by default the one with the settings of the environment; returns the exit code. */
export async function health(environment: Environment): Promise<number> {
  const { HOST, PORT } = environment;
  const instance = instanceOf(environment, `http://${reachable(HOST)}:${PORT || 3000}`);
  if (instance === undefined) return 2;
  const { href } = new URL("/readyz", instance.baseUrl);
  try {
    const { status } = await fetch(href, { redirect: "manual", signal: AbortSignal.timeout(PATIENCE_MS) });
    if (status !== 200) return fail(`not ready: ${href} answers ${status}`);
  } catch (error) {
    return fail(
      `not ready: ${href} does not answer: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  console.log("ready");
  return 0;
}

/** Nobody can connect to the addresses that mean all addresses. */
function reachable(host = ""): string {
  if (host === "" || host === "0.0.0.0" || host === "::") return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}
