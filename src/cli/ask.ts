import { type Client, createClient, CurtError } from "../../client/client.ts";
import type { Environment } from "./command.ts";
import { fail } from "./print.ts";

const DEFAULT_URL = "http://localhost:3000";

/**
 * Asks the instance of the environment; resolves with the exit code. `elsewhere` is asked if the environment names none.
 */
export async function ask(
  { CURT_URL, CURT_TOKEN }: Environment,
  act: (client: Client) => Promise<number>,
  elsewhere: string = DEFAULT_URL,
): Promise<number> {
  const baseUrl = CURT_URL || elsewhere;
  if (!/^https?:\/\//i.test(baseUrl) || !URL.canParse(baseUrl)) {
    fail(`CURT_URL must be an address such as https://go.example.com, not ${JSON.stringify(baseUrl)}`);
    return 2;
  }
  try {
    return await act(createClient({ baseUrl, token: CURT_TOKEN || undefined }));
  } catch (error) {
    if (!(error instanceof CurtError)) throw error;
    return fail(error.message);
  }
}
