import type { Call } from "../http/call.ts";
import { acceptsGzip } from "../http/compression.ts";
import type { Show, View, ViewEndpoint } from "../http/endpoint.ts";
import { cookieLanguage } from "../http/page-language.ts";
import { answer, knowsAlready, prefersHtml } from "../http/responses.ts";
import { header } from "../lib/bounds.ts";
import { clientNetwork, clientSharers } from "../lib/client-address.ts";
import { memoize } from "../lib/memoize.ts";
import { ThreadEnded } from "../lib/thread.ts";
import type { Memory } from "../links/change-feed.ts";
import type { MonotonicClock, WallClock } from "../links/clock.ts";
import type { Code } from "../links/code.ts";
import { negotiateLanguage } from "../locales/messages.ts";
import type { HostRules } from "../moderation/host-rules.ts";
import type { Reads } from "./reads.ts";
import { createSharedViews, type SharingLimits } from "./sharing.ts";
import { queryFor, type RenderedView, type ViewTask } from "./task.ts";
import { createViewQueue, type Refusal, type ViewLoad, type ViewQueueOptions } from "./views-queue.ts";

/** In characters. Our tags are shorter. */
const MAX_TAG_LENGTH = 256;
const BODY_HEADERS: ReadonlySet<string> = new Set(["content-type", "content-encoding", "content-length"]);

export interface ViewsOptions extends ViewQueueOptions {
  readonly clock: MonotonicClock & WallClock;
  readonly hostRules: Pick<HostRules, "version">;
  readonly limits?: SharingLimits | undefined;
  readonly refuse: (call: Call, problem: Refusal) => Response;
}

type ReadName = keyof Reads;
type Input<Name extends ReadName> = Parameters<Reads[Name]>;
type Result<Name extends ReadName> = Awaited<ReturnType<Reads[Name]>>;

/** Responds with views. After `forget`, it shares no view of the link that was rendered before. */
export interface Views extends Memory<Code> {
  /** Returns a function that responds with the view of an endpoint. */
  show<Data>(endpoint: Pick<ViewEndpoint<string, Data>, "at" | "view">): Show<Data>;
  /** Reads a value on the views thread, for the operator or else for the sender of a call. */
  read<Name extends ReadName>(
    name: Name,
    input?: Input<Name>[0],
    call?: Call,
  ): Promise<Result<Name> | Refusal>;
  readonly load: ViewLoad;
  close(): Promise<void>;
}

/** Lets the views thread render views, so that redirects don't wait for them. */
export function createViews({ clock, hostRules, limits, refuse, ...options }: ViewsOptions): Views {
  const queue = createViewQueue({ clock, ...options });
  const shared = createSharedViews(clock, limits);
  const sharersOf = memoize((address) => clientSharers(clientNetwork(address)));

  function taskOf(at: string, view: View<never, never>, call: Call, data: unknown): ViewTask {
    return {
      at,
      keyPrefix: call.domain.keyPrefix,
      code: call.code,
      query: queryFor(view, call.request),
      headers: JSON.stringify(headersOf(call)),
      knownTag: view.isTaggedFirst === true ? knownTagOf(call.headers) : "",
      data,
      nowMs: clock.nowMs(),
      rulesVersion: hostRules.version(),
    };
  }

  /** The operator's calls have places of their own in the queue. */
  function enter(visitor: Call | undefined) {
    return visitor === undefined
      ? queue.enter("operator", [])
      : queue.enter("visitors", sharersOf(visitor.client().address));
  }

  /** Shares no view with data, which belongs to the operator, a link's maker or the sender of a refused form. */
  async function render(task: ViewTask, isForOperator: boolean, call: Call): Promise<RenderedView | Refusal> {
    let refusal: Refusal = { kind: "unavailable" };
    const start = (knownTag: string) => {
      const place = enter(isForOperator ? undefined : call);
      if (!("kind" in place))
        return queue.perform(place, (thread) => thread.perform("render", { ...task, knownTag }));
      refusal = place;
      return undefined;
    };
    const { at, keyPrefix, code, query, headers, knownTag, rulesVersion } = task;
    const key = JSON.stringify([at, keyPrefix, code, query, headers, rulesVersion]);
    const isShared = !isForOperator && task.data === undefined;
    const view = await (isShared ? shared.find({ key, code, knownTag }, start) : start(knownTag));
    return view ?? refusal;
  }

  return {
    show({ at, view }) {
      return async (call: Call, data?: unknown) => {
        const task = taskOf(at, view, call, data);
        const result = await render(task, view.isForOperator === true, call).catch(refusalOfCrash);
        return "kind" in result ? refuse(call, result) : answerWith(result, call.headers);
      };
    },

    async read<Name extends ReadName>(
      name: Name,
      input?: Input<Name>[0],
      call?: Call,
    ): Promise<Result<Name> | Refusal> {
      const place = enter(call);
      if ("kind" in place) return place;
      const task = {
        name,
        input: input as unknown,
        nowMs: clock.nowMs(),
        rulesVersion: hostRules.version(),
      };
      const result = queue.perform(place, (thread) => thread.perform("read", task));
      return (result as Promise<Result<Name>>).catch(refusalOfCrash);
    },

    load: queue.load,
    forget: shared.forget,
    forgetAll: shared.forgetAll,
    close: queue.close,
  };
}

function refusalOfCrash(error: unknown): Refusal {
  if (error instanceof ThreadEnded) return { kind: "unavailable" };
  throw error;
}

/** The tags of views that the caller has, or "". */
function knownTagOf(headers: Headers): string {
  const known = header(headers, "if-none-match") ?? "";
  return known.length > MAX_TAG_LENGTH ? "" : known;
}

/** Responds with a view, or with 304 if the caller has it already. */
function answerWith({ status, body, headers: json }: RenderedView, requestHeaders: Headers): Response {
  const headers = JSON.parse(json) as Record<string, string>;
  if (status !== 200 || !knowsAlready(requestHeaders, headers["etag"] ?? ""))
    return answer({ status, body, headers });
  const rest = Object.entries(headers).filter(([name]) => !BODY_HEADERS.has(name));
  return answer({ status: 304, headers: Object.fromEntries(rest) });
}

/**
 * The request headers that views depend on, reduced to a few forms so that more requests are equal. `If-None-Match` is not
 * among them, because with it everybody could get a view of their own.
 */
function headersOf({ headers }: Call): Record<string, string> {
  const language = cookieLanguage(headers);
  const cameFrom = header(headers, "sec-fetch-site", "?");
  const site = cameFrom === "same-origin" || cameFrom === "none" ? cameFrom : "cross-site";
  return {
    Accept: prefersHtml(header(headers, "accept")) ? "text/html" : "application/json",
    "Accept-Language": negotiateLanguage(header(headers, "accept-language")),
    ...(acceptsGzip(header(headers, "accept-encoding")) && { "Accept-Encoding": "gzip" }),
    ...(language !== undefined && { Cookie: `language=${language}` }),
    ...(cameFrom !== null && { "Sec-Fetch-Site": site }),
  };
}
