import {
  type CallOptions,
  type ClientOptions,
  CurtError,
  isLike,
  parseErrors,
  request,
  requestIdOf,
} from "./request.ts";
import type { LinkRequest, LinkResult, ManagedLink } from "./types.ts";

/** The service's limit for a batch. */
export const MAX_LINKS = 500;
/** In UTF-16 units of up to three bytes each. The service's limit is 1 MiB. */
const MAX_LENGTH = 340_000;

interface Results {
  readonly results: LinkResult[];
}

/** Creates links, many with each request. Yields the outcome of each, in order. */
export async function* createAll(
  client: ClientOptions,
  links: Iterable<LinkRequest> | AsyncIterable<LinkRequest>,
  { idempotencyKey, ...options }: CallOptions,
): AsyncGenerator<ManagedLink | CurtError> {
  let maxLinks = MAX_LINKS;
  let requests = 0;
  let waiting: LinkRequest[] = [];
  let length = 0;

  async function send(part: LinkRequest[]) {
    const key = idempotencyKey && `${idempotencyKey}-${requests++}`;
    const call = {
      method: "POST",
      path: "/api/v1/links/batch",
      body: part,
      key: client.token,
      isExpected: (data: unknown) => areResults(data, part.length),
    } as const;
    const { data, headers } = await request<Results>(client, call, {
      ...options,
      idempotencyKey: key,
    });
    return data.results.map((result) => outcomeOf(result, requestIdOf(headers)));
  }

  async function* sendWaiting() {
    while (waiting.length > 0) {
      const part = waiting.slice(0, maxLinks);
      try {
        const outcomes = await send(part);
        waiting = waiting.slice(maxLinks);
        yield* outcomes;
      } catch (error) {
        // The instance has a lower limit.
        if (!(error instanceof CurtError) || error.reason !== "batch.length" || part.length === 1)
          throw error;
        maxLinks = Math.ceil(part.length / 2);
      }
    }
    length = 0;
  }

  for await (const link of links) {
    const ownLength = JSON.stringify(link).length + 1;
    if (waiting.length >= maxLinks || length + ownLength > MAX_LENGTH) yield* sendWaiting();
    waiting.push(link);
    length += ownLength;
  }
  yield* sendWaiting();
}

function areResults(data: unknown, count: number): boolean {
  if (!isLike(data, { results: [{ status_code: 0, message: "" }] })) return false;
  const { results } = data as Results;
  return (
    results.length === count &&
    results.every((one) => one.data === undefined || isLike(one.data, { short_url: "" }))
  );
}

function outcomeOf(result: LinkResult, requestId: string): ManagedLink | CurtError {
  const { status_code: status, message, data, retry_after } = result;
  if (data !== undefined) return data;
  const errors = parseErrors(result.errors);
  const reason = [...new Set(errors.map((error) => error.reason))].join(", ");
  const retryAfterMs = retry_after === undefined ? undefined : retry_after * 1000;
  return new CurtError({ status, reason, message, retryAfterMs, requestId, errors });
}
