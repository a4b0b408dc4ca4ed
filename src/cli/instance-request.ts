import { type Client, type ClientOptions, createClient, CurtError } from "../../client/client.ts";
import type { Environment } from "./command.ts";
import { fail } from "./terminal/print.ts";

const DEFAULT_URL = "http://localhost:3000";

/**
 * Asks the instance of the environment; resolves with the exit code. `elsewhere` is asked if the environment names none.
 */
export async function ask(
  environment: Environment,
  act: (client: Client) => Promise<number>,
  elsewhere?: string,
): Promise<number> {
  const instance = instanceOf(environment, elsewhere);
  if (instance === undefined) return 2;
  try {
    return await act(createClient(instance));
  } catch (error) {
    if (!(error instanceof CurtError)) throw error;
    return fail(`${error.message} (${hint(error, instance)})`);
  }
}

/** What somebody in a shell can do about it. */
function hint({ status, reason }: CurtError, { baseUrl }: ClientOptions): string {
  if (reason.startsWith("token.")) return "CURT_TOKEN is for it";
  return status === 0 ? "CURT_URL says which instance to ask" : `asked: ${baseUrl}`;
}

/** The instance of the environment. If it is wrong, says so and returns undefined. */
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
