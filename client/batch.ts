import { type CallOptions, type ClientOptions, CurtError, isLike, request } from "./request.ts";
import type { LinkRequest, LinkResult, ManagedLink } from "./types.ts";

/** What the service takes at once. */
const MAX_LINKS = 500;
/** In UTF-16 units, which take up to three bytes each. The service takes 1 MiB. */
const MAX_LENGTH = 340_000;

interface Results {
  readonly results: LinkResult[];
}

/** Makes links, many with each request, and tells what became of each, in order. */
export async function* makeAll(
  client: ClientOptions,
  links: Iterable<LinkRequest> | AsyncIterable<LinkRequest>,
  { idempotencyKey, ...options }: CallOptions,
): AsyncGenerator<ManagedLink | CurtError> {
  let most = MAX_LINKS;
  let requests = 0;
  let waiting: LinkRequest[] = [];
  let length = 0;

  async function make(some: LinkRequest[]): Promise<LinkResult[]> {
    const key = idempotencyKey && `${idempotencyKey}-${requests++}`;
    const call = {
      method: "POST",
      path: "/api/v1/links/batch",
      body: some,
      key: client.token,
      isAnswer: (data: unknown) => areResults(data, some.length),
    } as const;
    const { data } = await request<Results>(client, call, {
      ...options,
      idempotencyKey: key,
    });
    return data.results;
  }

  async function* makeWaiting() {
    while (waiting.length > 0) {
      const some = waiting.slice(0, most);
      try {
        const results = await make(some);
        waiting = waiting.slice(most);
        for (const result of results) yield outcomeOf(result);
      } catch (error) {
        // The limits of the service let fewer through at once.
        if (!(error instanceof CurtError) || error.reason !== "batch.length" || some.length === 1)
          throw error;
        most = Math.ceil(some.length / 2);
      }
    }
    length = 0;
  }

  for await (const link of links) {
    const ownLength = JSON.stringify(link).length + 1;
    if (waiting.length >= most || length + ownLength > MAX_LENGTH) yield* makeWaiting();
    waiting.push(link);
    length += ownLength;
  }
  yield* makeWaiting();
}

function areResults(data: unknown, count: number): boolean {
  if (!isLike(data, { results: [{ status_code: 0, message: "" }] })) return false;
  const { results } = data as Results;
  return (
    results.length === count &&
    results.every((one) => one.data === undefined || isLike(one.data, { short_url: "" }))
  );
}

function outcomeOf({ status_code: status, message, data, reason = "", retry_after }: LinkResult) {
  if (data !== undefined) return data;
  const retryAfterMs = retry_after === undefined ? undefined : retry_after * 1000;
  return new CurtError({ status, reason, message, retryAfterMs });
}
