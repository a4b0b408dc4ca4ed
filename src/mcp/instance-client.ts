import { z } from "zod";

import { type Client, type ClientOptions, createClient, CurtError } from "../../client/client.ts";
import { request } from "../../client/request.ts";
import { isProblem } from "../links/problem.ts";
import { plain } from "./answers.ts";

/** Why a tool failed, in words for the model. */
export interface Refusal {
  readonly kind: "refusal";
  readonly text: string;
}

const MAX_MESSAGE_LENGTH = 1000;
const MAX_CALLS = 16;

const information = z.object({ endpoint: z.url() });

/** The service behind the tools. Its responses aren't trusted. */
export function createInstance(options: ClientOptions) {
  const baseUrl = new URL(options.baseUrl).origin;
  const clientOptions = { ...options, baseUrl, language: "en" };
  const client = createClient(clientOptions);
  let calls = 0;
  let publicHost: string | undefined;

  /** Sends a request and parses the response. */
  async function send<T>(
    call: (client: Client) => Promise<unknown>,
    answer: z.ZodType<T>,
  ): Promise<T | Refusal> {
    if (calls === MAX_CALLS)
      return refusal(`There are ${MAX_CALLS} calls already. Wait for one of them to end, then try again.`);
    calls++;
    try {
      const parsed = answer.safeParse(await call(client));
      return parsed.success
        ? parsed.data
        : refusal(`The answer of ${baseUrl} is none of Curt. Is the address right?`);
    } catch (error) {
      if (error instanceof CurtError) return refusal(inWords(error));
      throw error;
    } finally {
      calls--;
    }
  }

  return {
    baseUrl,
    send,

    /** Whether the short addresses of this service have this host, as in `URL.host`. */
    async isOwn(host: string, signal: AbortSignal): Promise<boolean | Refusal> {
      if (host === new URL(baseUrl).host) return true;
      if (publicHost === undefined) {
        const answer = await send(
          async () => (await request(clientOptions, { path: "/api/v1/shorten" }, { signal })).data,
          information,
        );
        if (isProblem(answer)) return answer;
        publicHost = new URL(answer.endpoint).host;
      }
      return host === publicHost;
    },
  };
}

export type Instance = ReturnType<typeof createInstance>;

export function refusal(text: string): Refusal {
  return { kind: "refusal", text };
}

/** Such as "409 code.taken: This code is already in use." */
function inWords({ status, reason, message, retryAfterMs }: CurtError): string {
  const why = [status === 0 ? "" : status, plain(reason, 200)].filter((part) => part !== "").join(" ");
  const sentence = `${why}: ${plain(message, MAX_MESSAGE_LENGTH)}`;
  return retryAfterMs === undefined
    ? sentence
    : `${sentence} Try again in ${Math.ceil(retryAfterMs / 1000)} seconds.`;
}
