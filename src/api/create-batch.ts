// Creates the links of an array in one commit.

import type { Call, Handler } from "../http/call.ts";
import { endpoint, addressPath, type LimitedHandler } from "../http/endpoint.ts";
import { LINK_FIELDS } from "../http/field-names.ts";
import { type HttpProblem, malformed, problemJson, renderProblem } from "../http/problems.ts";
import { BODIES, header } from "../lib/bounds.ts";
import { inOrder } from "../lib/each.ts";
import { createFairShares } from "../lib/fair-shares.ts";
import { isProblem } from "../links/problem.ts";
import { message, negotiateLanguage } from "../locales/messages.ts";
import type { ApiParts } from "./api-parts.ts";
import { LINK_FORMAT, linkRequest } from "./create-link.ts";
import {
  createBody,
  createFailures,
  createCreateHandlers,
  domainOf,
  type Identify,
  REPLAYED,
  replayedHeader,
} from "./creation.ts";
import { envelope, success } from "./envelope.ts";
import { parseArray, toObject } from "./json-body.ts";
import { managedLinkSchema } from "./link-json.ts";
import { type Entry, EXAMPLE, errors, failure, reference, returns, string } from "./openapi/components.ts";
import { z } from "./openapi/schema.ts";

/** Links in one array. */
export const MAX_BATCH = 500;
const AT = "POST /api/v1/links/batch";
const BODY = BODIES[AT];
/**
 * Batches that are read and processed at the same time. Each holds a few megabytes at worst. A slow client can take half of
 * the places, not all.
 */
const MAX_OPEN = 64;
/** How long a connection may stay idle. That includes creating the links: 500 passwords take ten seconds or more. */
export const IDLE_SECONDS = 120;

/** Equal to the response to one link alone. */
const linkResult = z
  .object({
    status_code: z.int().openapi({ description: "api.result.status_code", example: 201 }),
    status: z.enum(["success", "error"]).openapi({ description: "api.result.status", example: "success" }),
    message: string.openapi({ description: "api.result.message", example: "{link.made}" }),
    data: reference(managedLinkSchema).optional().openapi({ description: "api.result.data" }),
    errors: errors.optional(),
    retry_after: z.int().optional().openapi({ description: "api.result.retry_after" }),
  })
  .openapi("LinkResult");
type Result = Omit<z.infer<typeof linkResult>, "data"> & { readonly data?: object };

// Without codes in the examples: they would be in use as soon as one reader has sent them.
const { original_url, expire_duration } = EXAMPLE;
export const createLinks = endpoint({
  at: AT,
  cost: "create",
  entry: {
    tags: ["Links"],
    operationId: "createLinks",
    summary: "api.many.links",
    description: "api.many.description",
    request: createBody(z.array(reference(linkRequest)).min(1).max(MAX_BATCH).openapi("LinkRequests"), [
      { target: original_url, expires_at: expire_duration },
      { target: original_url },
    ]),
    responses: {
      ...createFailures,
      200: returns(
        "api.many.answer",
        envelope("batch", z.object({ results: z.array(linkResult) })).openapi("LinkResults"),
        replayedHeader,
      ),
      413: failure("api.many.too-large"),
    },
  } satisfies Entry,
  serve: serveBatch,
});

/** All domains share these, because they share the memory and the thread. */
const admit = createFairShares(MAX_OPEN);
const waitForTurn = createTurns();

function serveBatch(parts: ApiParts): LimitedHandler {
  const { limiter } = parts;
  const { createAll, handler, readText, manageKeyOf } = createCreateHandlers(parts);
  // A larger array than the limit ever lets through is refused as too long.
  const max = Math.min(MAX_BATCH, limiter.most("create"));

  async function respond(call: Call, identify: Identify | undefined): Promise<Response> {
    const text = await readText(call, BODY);
    if (isProblem(text)) return problemJson(call, text);
    await waitForTurn();
    const items = parseArray(text, BODY, LINK_FORMAT.example);
    if (isProblem(items)) return problemJson(call, items);
    const count = items.value.length;
    if (count === 0 || count > max) return problemJson(call, malformed({ rule: "batch.length", max, count }));
    const bodies = items.value.map((item) => {
      const fields = toObject(item, LINK_FORMAT.example);
      return isProblem(fields) ? fields : LINK_FORMAT.read(fields.value);
    });
    const requests = bodies.flatMap((body) => (isProblem(body) ? [] : [body.request]));
    const created = await createAll(call, requests, identify?.(addressPath(AT), text));
    if (isProblem(created)) return problemJson(call, created);
    await waitForTurn();
    const language = negotiateLanguage(header(call.headers, "accept-language"));
    const confirmation = message(language, LINK_FORMAT.message);
    const nextOutcome = inOrder(created.outcomes);
    const results = bodies.map((body): Result => {
      if (isProblem(body)) return describeProblem(body, language);
      const outcome = nextOutcome();
      if (isProblem(outcome)) return describeProblem(outcome, language);
      const domain = domainOf(call, body);
      const data = body.describe(outcome, domain, manageKeyOf(outcome, domain));
      return { status_code: 201, status: "success", message: confirmation, data };
    });
    limiter.chargeTaken(call, results.filter(({ status_code }) => status_code === 409).length);
    // Reading the body again costs as much as the first time.
    if (created.isReplay) limiter.chargeRefused(call, 1);
    limiter.chargeRefused(call, results.filter(({ status }) => status === "error").length);
    return success(call, 200, "batch", { results }, created.isReplay ? REPLAYED : {});
  }

  /** Without a key, a used-up limit refuses before the body is read. Links count when they are created. */
  const limit =
    (handle: Handler): Handler =>
    async (call) =>
      limiter.remaining(call, "create") === 0
        ? problemJson(call, await limiter.refuse(call, "create"))
        : handle(call);

  return handler(limit, async (call, identify) => {
    const close = admit(limiter.sharers(call));
    if (close === undefined) return problemJson(call, { kind: "unavailable" });
    call.mayTake(IDLE_SECONDS);
    return respond(call, identify).finally(close);
  });
}

function describeProblem(problem: HttpProblem, language: string): Result {
  const { status, text, errors: details, headers } = renderProblem(problem, language, LINK_FIELDS);
  const retryAfter = headers["Retry-After"];
  return {
    status_code: status,
    status: "error",
    message: text,
    errors: details,
    retry_after: retryAfter === undefined ? undefined : Number(retryAfter),
  };
}

/**
 * Returns a function that waits until redirects, other requests and all earlier callers had their turn. One batch takes as long
 * as a few redirects, and hundreds arrive together: if none of them waits for the store, redirects would wait for all of them.
 */
function createTurns(): () => Promise<unknown> {
  let last: Promise<unknown> = Promise.resolve();
  return () => {
    last = last.then(() => new Promise(setImmediate));
    return last;
  };
}
