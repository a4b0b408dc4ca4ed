// Shared by the endpoints that create links: who may create, limits, retries, and parts of their OpenAPI entries.

import type { Call, Handler } from "../http/call.ts";
import { bearerToken } from "../http/credentials.ts";
import type { Domain } from "../http/domain.ts";
import type { LimitedHandler } from "../http/endpoint.ts";
import type { Limiter } from "../http/limits/limiter.ts";
import { type HttpProblem, type Limited, problemJson } from "../http/problems.ts";
import { type AnyBody, header } from "../lib/bounds.ts";
import { clientNetwork } from "../lib/client-address.ts";
import { type Each, mapEach } from "../lib/each.ts";
import { createLines, createQueue } from "../lib/queue.ts";
import { keyOf } from "../links/code.ts";
import type { CreateRequest } from "../links/drafts.ts";
import { type RepeatableRequest, StoreUnavailable } from "../links/link-store.ts";
import { shownCode, type Link } from "../links/link.ts";
import { isProblem, type Problem } from "../links/problem.ts";
import type { Secret } from "../links/secret.ts";
import type { MessageKey } from "../locales/messages.ts";
import type { ApiParts } from "./api-parts.ts";
import { success } from "./envelope.ts";
import { type JsonObject, parseObject, readJsonText } from "./json-body.ts";
import {
  authenticate,
  bodyFailures,
  type Entry,
  failure,
  jsonBody,
  returns,
  storeFailures,
  string,
} from "./openapi/components.ts";
import { SCHEMES } from "./openapi/description.ts";
import { z } from "./openapi/schema.ts";

/** The differences between the contract's way to create a link and our own. */
export interface CreateFormat {
  /** A valid body, for the message about an invalid one. */
  readonly example: JsonObject;
  /** The message of a 201. */
  readonly message: MessageKey;
  readonly bounds: AnyBody;
  /** Reads a body, with all its types. The domain checks the values. */
  read(body: JsonObject): CreateBody | HttpProblem;
}

interface CreateBody {
  readonly request: CreateRequest;
  /** The response's data, once the link exists. */
  describe(link: Link, domain: Domain, manageKey: string): { readonly code: string };
}

/** Adds the caller to a request: the name, and whose places a password takes in the queue of hashes. */
export function asCaller(
  call: Call,
  request: CreateRequest,
  { sharers }: Pick<Limiter, "sharers">,
): CreateRequest {
  const hasPassword = typeof request.terms?.password === "string";
  return call.by === undefined && !hasPassword
    ? request
    : { ...request, createdBy: call.by, owner: call.person, ...(hasPassword && { sharers: sharers(call) }) };
}

/** The domain of a created link. */
export function domainOf({ domain }: Call, { request }: CreateBody): Domain {
  return (request.domain === undefined ? undefined : domain.find(request.domain)) ?? domain;
}

interface Created<Requests extends readonly unknown[]> {
  readonly outcomes: Each<Requests, Link | Problem>;
  /** Whether an earlier request with the same key created all of them. */
  readonly isReplay: boolean;
}

/** Why no link at all is created. */
type CreateRefusal = Limited | { readonly kind: "idempotency.reused" };

/** Groups of up to 500 links. Together they leave room in the store's queue for links that are created one by one. */
const GROUPS = { atOnce: 8, waiting: 64 };
/** All domains share it, because they share the store. */
const inTurn = createQueue(GROUPS);
/** A retry waits while its first attempt is still running, so that it finds what that one created. */
const inLine = createLines();
/** draft-ietf-httpapi-idempotency-key-header-07 leaves it to the service how it marks a replayed response. */
export const REPLAYED = { "Idempotent-Replayed": "true" } as const;
export const REUSED = { kind: "idempotency.reused" } as const;

export function createCreateHandlers(parts: ApiParts) {
  const { links, limiter, refusalToCreate, allKeys } = parts;

  /**
   * Counts links against the client's limits and creates them. It creates none if the client may not create all of them now.
   * Replayed creates don't count, so a client that has used up its limits still gets the response to its first try.
   */
  function createAll<const Requests extends readonly CreateRequest[]>(
    call: Call,
    wanted: Requests,
    retry: RepeatableRequest | undefined,
  ): Promise<Created<Requests> | CreateRefusal> {
    const run = () => createOrReplay(call, wanted, retry);
    return retry === undefined ? run() : inLine(retry.key, run);
  }

  async function createOrReplay<const Requests extends readonly CreateRequest[]>(
    call: Call,
    wanted: Requests,
    retry: RepeatableRequest | undefined,
  ): Promise<Created<Requests> | CreateRefusal> {
    const requests = mapEach(wanted, (request) => asCaller(call, request, limiter));
    const before = retry === undefined ? [] : await links.recall(retry);
    if ("kind" in before) return REUSED;
    const counted = requests.length - before.length;
    const giveBack = counted === 0 ? () => {} : await limiter.take(call, "create", counted);
    if (isProblem(giveBack)) return giveBack;
    let failed = counted;
    const createNow = () =>
      retry === undefined ? links.createAll(requests) : links.createOnce(requests, retry, before);
    try {
      const created = await (requests.length > 1 ? inTurn(createNow) : createNow());
      if (created === undefined) throw new StoreUnavailable("too many links wait to be created");
      if ("kind" in created) return REUSED;
      failed = counted - created.created;
      const { outcomes } = created;
      // Another process may have created them since the look-up.
      const isReplay = requests.length > 0 && created.created === 0 && !outcomes.some(isProblem);
      return { outcomes, isReplay };
    } finally {
      giveBack(failed);
    }
  }

  /**
   * Checks the token and reads the `Idempotency-Key`. Requests without a key also pass `limit`, before they take a turn, so
   * that a refusal costs little. With a key it may be a retry, which doesn't count as a create.
   */
  function handler(
    limit: (handle: Handler) => Handler,
    handle: (call: Call, identify: Identify | undefined) => Promise<Response>,
  ): LimitedHandler {
    return {
      handle: limiter.attempt((call) => {
        const identify = refusalToCreate(call) ?? readIdempotencyKey(call, parts);
        return isProblem(identify) ? problemJson(call, identify) : handle(call, identify);
      }),
      limit(later) {
        const withoutKey = limit(later);
        if (withoutKey === later) return later;
        return (call) => (call.headers.has("idempotency-key") ? later(call) : withoutKey(call));
      },
    };
  }

  function manageKeyOf({ code, createdMs }: Link, { keyPrefix }: Domain): string {
    return allKeys.manageKey({ code: keyOf(keyPrefix, code), createdMs });
  }

  async function readText(call: Call, bounds: AnyBody): Promise<string | HttpProblem> {
    const text = await readJsonText(call.request, bounds);
    // A token may have been removed while the body arrived.
    return refusalToCreate(call) ?? text;
  }

  return {
    createAll,
    handler,
    readText,
    manageKeyOf,

    /** The handler of an endpoint that creates one link. */
    one: (format: CreateFormat, path: string) =>
      handler(
        (handle) => limiter.limit("create", handle),
        async (call, identify) => {
          const text = await readText(call, format.bounds);
          if (isProblem(text)) return problemJson(call, text);
          const fields = parseObject(text, format.bounds, format.example);
          if (isProblem(fields)) return problemJson(call, fields);
          const body = format.read(fields.value);
          if (isProblem(body)) return problemJson(call, body);
          const all = identify && (await createAll(call, [body.request], identify(path, text)));
          if (isProblem(all)) return problemJson(call, all);
          // Otherwise nothing would limit replays, and each writes to PostgreSQL.
          if (all?.isReplay) limiter.chargeRefused(call, 1);
          // Its limit is counted already.
          const link = all ? all.outcomes[0] : await links.create(asCaller(call, body.request, limiter));
          if (isProblem(link)) return problemJson(call, link);
          const domain = domainOf(call, body);
          const manageKey = manageKeyOf(link, domain);
          const data = body.describe(link, domain, manageKey);
          return success(call, 201, format.message, data, {
            Location: domain.asciiUrl(data.code),
            Link: editLink(link, domain, manageKey),
            ...(all?.isReplay && REPLAYED),
          });
        },
      ),
  };
}

/**
 * The `Link` header with the page that manages a link (RFC 8288; `edit` is of RFC 5023). The key is in the fragment, which
 * browsers send to no server and in no referrer.
 */
function editLink(link: Link, { origin }: Domain, manageKey: string): string {
  return `<${origin}/${encodeURIComponent(shownCode(link))}+#key=${manageKey}>; rel="edit"`;
}

/** The bounds of idempotency keys, in characters. */
export const MAX_KEY_LENGTH = 255;
/** Without a token. A neighbour behind the same address could guess a shorter key, and would get the manage key. */
export const MIN_KEY_LENGTH = 16;

export const createBody = <T extends z.ZodType>(schema: T, example: object) => ({
  headers: z.object({
    "Idempotency-Key": string.optional().openapi({
      description: "api.idempotency-key",
      pattern: '^(?:"(?:[ !#-\\[\\]-~]|\\\\["\\\\])+"|[ !#-~]+)$',
      minLength: MIN_KEY_LENGTH,
      maxLength: 512,
      example: "8e03978e-40d5-43dd-bc93-6894a57f9324",
    }),
  }),
  body: jsonBody(schema, example),
});
export const createFailures = { ...bodyFailures, 422: failure("idempotency.reused"), ...storeFailures };
export const replayedHeader = {
  "Idempotent-Replayed": z.literal("true").optional().openapi({ description: "api.replayed" }),
};
export const createResponses = <T extends z.ZodType>(schema: T) => ({
  201: returns("api.made", schema, {
    Location: string.openapi({ format: "uri", description: "api.location" }),
    Link: string.openapi({ description: "api.edit-link" }),
    ...replayedHeader,
  }),
  409: failure("api.taken"),
  ...createFailures,
});

/** The security scheme of services that create links only for those who have their token. */
export const TOKEN_SCHEME = { name: SCHEMES.token, scheme: { type: "http", scheme: "bearer" } } as const;
/** The OpenAPI entry of an endpoint, as such a service has it. */
export const withToken = (entry: Entry): Entry => ({
  ...entry,
  security: [{ [TOKEN_SCHEME.name]: [] }],
  responses: { ...entry.responses, 401: failure("api.token", authenticate("api.token.scheme")) },
});

const PRINTABLE = new RegExp(`^[\\x20-\\x7E]{1,${MAX_KEY_LENGTH}}$`);
/** A string of RFC 9651, section 3.3.3. */
const STRING = /^"((?:[^"\\]|\\["\\])*)"$/;
/** Most clients send a bare UUID. A quote could start a string, and two equal headers are joined by a comma and a space. */
const BARE = /^(?!.*, )[^"]+$/;

/** Identifies a request by its path and body, so that its retries are recognized. */
export type Identify = (path: string, body: string) => RepeatableRequest;

/**
 * Reads `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header-07, section 2.1), once the caller is known. Undefined
 * without one. Keys belong to the client's network and the caller's name, because a replayed response shows the manage key.
 */
function readIdempotencyKey(
  call: Call,
  { secret, isCreateToken }: Pick<ApiParts, "secret" | "isCreateToken">,
): Identify | undefined | HttpProblem {
  const value = header(call.headers, "idempotency-key", "");
  if (value === null) return undefined;
  const key = parseKey(value);
  if (isProblem(key)) return key;
  const isKnown = call.by !== undefined || isCreateToken(bearerToken(call.headers));
  if (key.length < MIN_KEY_LENGTH && !isKnown) return { kind: "idempotency.format" };
  return identifyBy(key, call, secret);
}

export function identifyBy(key: string, call: Call, secret: Pick<Secret, "hash">): Identify {
  const client = clientNetwork(call.client().address);
  return (path, body) => ({
    key: secret.hash("request", [client, key, ...callerOf(call)]),
    body: secret.hash("body", [path, body]),
  });
}

/** A token and a person may have the same name. */
function callerOf({ by, person }: Call): readonly string[] {
  if (by === undefined) return [];
  return person === undefined ? [by] : [by, "person"];
}

/** A string and the same text without quotes are one key. @internal */
export function parseKey(value: string): string | HttpProblem {
  const key = STRING.exec(value)?.[1]?.replaceAll(/\\(["\\])/g, "$1") ?? BARE.exec(value)?.[0] ?? "";
  return PRINTABLE.test(key) ? key : { kind: "idempotency.format" };
}
