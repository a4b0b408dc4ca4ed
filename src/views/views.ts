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
import type { Answers } from "./questions.ts";
import { createViewQueue, type Refusal, type ViewLoad, type ViewQueueOptions } from "./queue.ts";
import { createSharedViews, type SharingLimits } from "./sharing.ts";
import { queryFor, type RenderedView, type ViewTask } from "./task.ts";

/** Our tags are shorter. */
const MAX_TAG_LENGTH = 256;
const BODY_HEADERS: ReadonlySet<string> = new Set(["content-type", "content-encoding", "content-length"]);

export interface ViewsOptions extends ViewQueueOptions {
  readonly clock: MonotonicClock & WallClock;
  readonly hostRules: Pick<HostRules, "version">;
  readonly limits?: SharingLimits | undefined;
  readonly refuse: (call: Call, problem: Refusal) => Response;
}

type Question = keyof Answers;
type Input<Name extends Question> = Parameters<Answers[Name]>;
type Answer<Name extends Question> = Awaited<ReturnType<Answers[Name]>>;

/** Also a cache of links: it shares no view that was rendered before a change. */
export interface Views extends Memory<Code> {
  /** Returns a function that responds with the view of an endpoint. */
  show<Data>(endpoint: Pick<ViewEndpoint<string, Data>, "at" | "view">): Show<Data>;
  /** Asks the views thread for a value, for the operator. */
  read<Name extends Question>(question: Name, ...input: Input<Name>): Promise<Answer<Name> | Refusal>;
  readonly load: ViewLoad;
  close(): void;
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

  /** Data is the operator's, a link's maker's or that of a refused form, which nobody else sees. */
  async function render(task: ViewTask, isForOperator: boolean, call: Call): Promise<RenderedView | Refusal> {
    let refusal: Refusal = { kind: "unavailable" };
    const start = (knownTag: string) => {
      const place = isForOperator
        ? queue.enter("operator", [])
        : queue.enter("visitors", sharersOf(call.client().address));
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
        try {
          const result = await render(taskOf(at, view, call, data), view.isForOperator === true, call);
          return "kind" in result ? refuse(call, result) : answerWith(result, call.headers);
        } catch (error) {
          if (error instanceof ThreadEnded) return refuse(call, { kind: "unavailable" });
          throw error;
        }
      };
    },

    async read<Name extends Question>(
      question: Name,
      ...input: Input<Name>
    ): Promise<Answer<Name> | Refusal> {
      const place = queue.enter("operator", []);
      if ("kind" in place) return place;
      const task = {
        question,
        input: input[0] as unknown,
        nowMs: clock.nowMs(),
        rulesVersion: hostRules.version(),
      };
      try {
        return (await queue.perform(place, (thread) => thread.perform("read", task))) as Answer<Name>;
      } catch (error) {
        if (error instanceof ThreadEnded) return { kind: "unavailable" as const };
        throw error;
      }
    },

    load: queue.load,
    forget: shared.forget,
    forgetAll: shared.forgetAll,
    close: queue.close,
  };
}

/** The tags of views that the caller has, or "". */
function knownTagOf(headers: Headers): string {
  const known = header(headers, "if-none-match") ?? "";
  return known.length > MAX_TAG_LENGTH ? "" : known;
}

/** Answers 304 if the caller already has this view (RFC 9110, section 13.1.2). */
function answerWith({ status, body, headers: json }: RenderedView, requestHeaders: Headers): Response {
  const headers = JSON.parse(json) as Record<string, string>;
  if (status !== 200 || !knowsAlready(requestHeaders, headers["etag"] ?? ""))
    return answer({ status, body, headers });
  const rest = Object.entries(headers).filter(([name]) => !BODY_HEADERS.has(name));
  return answer({ status: 304, headers: Object.fromEntries(rest) });
}

/**
 * The request headers that views depend on, reduced to a few forms so that more requests are equal. Without `If-None-Match`,
 * by which everybody could get a view of their own.
 */
function headersOf({ headers }: Call): Record<string, string> {
  const language = cookieLanguage(headers);
  const cameFrom = header(headers, "sec-fetch-site", "?");
  return {
    Accept: prefersHtml(header(headers, "accept")) ? "text/html" : "application/json",
    "Accept-Language": negotiateLanguage(header(headers, "accept-language")),
    ...(acceptsGzip(header(headers, "accept-encoding")) && { "Accept-Encoding": "gzip" }),
    ...(language !== undefined && { Cookie: `language=${language}` }),
    ...(cameFrom !== null && { "Sec-Fetch-Site": cameFrom === "same-origin" ? cameFrom : "cross-site" }),
  };
}
