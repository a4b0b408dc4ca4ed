import type { Links } from "../../links/links.ts";
import { isProblem } from "../../links/problem.ts";
import type { Secret } from "../../links/secret.ts";
import type { TokenCheck } from "../../moderation/access-tokens.ts";
import { bearerToken } from "../bearer-token.ts";
import type { Call, Handler } from "../call.ts";
import type { Limiter } from "../limiter.ts";
import { problemJson } from "../problems.ts";
import { createBatch } from "./batch.ts";
import type { Dialect, Dialects } from "./create.ts";
import { success } from "./envelope.ts";
import { readIdempotencyKey, type Recognize } from "./idempotency-key.ts";
import { parseObject, readJsonText } from "./json-body.ts";
import { createMaking, type MakingOptions } from "./making.ts";
import { PATHS } from "./paths.ts";
import { createPlaces, createTurn } from "./places.ts";

/** How long after the start the schemas are loaded, at the latest: before somebody replaces the files of this version. */
const LOAD_AFTER_MS = 1000;

export interface MakersOptions extends MakingOptions {
  readonly links: MakingOptions["links"] & Pick<Links, "create">;
  readonly limiter: Pick<Limiter, "limit" | "left" | "most" | "refuse" | "take">;
  readonly mayCreate: TokenCheck;
  readonly secret: Secret;
}

/** How a request for one or many links is answered. `recognize` is undefined if it has no `Idempotency-Key`. */
export type Make = (
  call: Call,
  dialect: Dialect,
  path: string,
  recognize: Recognize | undefined,
) => Promise<Response>;

/** The handlers that make links. */
export function createMakers(options: MakersOptions) {
  const { links, limiter, mayCreate, secret } = options;
  const making = createMaking(options);
  const makeBatch = createBatch({ limiter, making, enter: createPlaces(), turn: createTurn() });

  let dialects: Dialects | undefined;
  /** After the start or with the first body, because making the schemas takes a while and redirects do without. */
  async function loadDialects(): Promise<Dialects> {
    const { createDialects } = await import("./create.ts");
    return (dialects ??= createDialects(secret));
  }
  // If it fails, the first body tries again, and its answer tells.
  setTimeout(() => void loadDialects().catch(() => {}), LOAD_AFTER_MS).unref();

  const makeSingle: Make = async (call, dialect, path, recognize) => {
    const text = await readJsonText(call.request);
    if (isProblem(text)) return problemJson(call, text);
    const body = parseObject(text, dialect.example);
    if (isProblem(body)) return problemJson(call, body);
    const wanted = dialect.read(body.value);
    if (isProblem(wanted)) return problemJson(call, wanted, {}, dialect.fields);
    const link = await (recognize === undefined
      ? links.create(wanted.request)
      : making.makeOnce(call, wanted.request, recognize(path, text)));
    if (isProblem(link)) return problemJson(call, link, {}, dialect.fields);
    const { data, headers } = wanted.tell(link, call.domain);
    return success(call, 201, dialect.message, data, headers());
  };

  /** Makes links for those who may make some. */
  const guarded =
    (name: keyof Dialects, path: string, make: Make) =>
    async (call: Call, recognize?: Recognize): Promise<Response> => {
      const token = bearerToken(call.headers);
      if (!mayCreate(token))
        return problemJson(call, { kind: token === "" ? "token.missing" : "token.wrong" });
      return make(call, (dialects ?? (await loadDialects()))[name], path, recognize);
    };

  /** Without a key, a link is counted before the body is read, so that a refusal costs little. */
  function single(name: keyof Dialects, path: string): Handler {
    const make = guarded(name, path, makeSingle);
    const counted = limiter.limit("create", (call) => make(call));
    return (call) => {
      const recognize = readIdempotencyKey(call, secret);
      if (isProblem(recognize)) return problemJson(call, recognize);
      return recognize === undefined ? counted(call) : make(call, recognize);
    };
  }

  function many(name: keyof Dialects, path: string): Handler {
    const batch = guarded(name, path, makeBatch);
    return async (call) => {
      // The address is lost if the client hangs up meanwhile.
      call.client();
      const recognize = readIdempotencyKey(call, secret);
      if (isProblem(recognize)) return problemJson(call, recognize);
      // What was made before costs nothing, so only a body without a key need not be read.
      if (recognize === undefined && limiter.left(call, "create") === 0)
        return problemJson(call, await limiter.refuse(call, "create"));
      return batch(call, recognize);
    };
  }

  return {
    shorten: single("shorten", PATHS.shorten),
    shortenBatch: many("shorten", PATHS.shortenBatch),
    makeLink: single("links", PATHS.links),
    linksBatch: many("links", PATHS.linksBatch),
  };
}
