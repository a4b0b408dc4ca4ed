import { header } from "../lib/bounds.ts";
import { clientNetwork, clientSharers } from "../lib/client-address.ts";
import { memoize } from "../lib/memoize.ts";
import { type Thread, ThreadEnded } from "../lib/thread.ts";
import type { Memory } from "../links/change-feed.ts";
import type { Clock } from "../links/clock.ts";
import { type Code, lookUpCode } from "../links/code.ts";
import { createFairShares } from "../links/fair-shares.ts";
import { negotiateLanguage } from "../locales/messages.ts";
import type { HostRules } from "../moderation/host-rules.ts";
import type { Call, Handler } from "./call.ts";
import { acceptsGzip } from "./compression.ts";
import { cookieLanguage } from "./page-language.ts";
import { knowsAlready, answer, prefersHtml } from "./responses.ts";
import { queryFor, type RenderCalls, type RenderedView, type View, type ViewTask } from "./view-task.ts";

/** Further requests get 503, which keeps the queue short. Visitors share their places, and can't take the operator's. */
export const MAX_WAITING = { visitors: 64, operator: 16 };
type Audience = keyof typeof MAX_WAITING;
/** How long equal requests share one view. Then the thread checks whether it is still current. */
const SHARED_MS = 1000;
const MAX_SHARED = 100;
/** How long to wait after a crash. */
const RESTART_AFTER_MS = 1000;
/** Our tags are shorter. */
const MAX_TAG_LENGTH = 256;
/** Expensive views whose tag is known before rendering. If the caller has the tag, they aren't rendered. */
const TAGGED_BEFORE: ReadonlySet<View> = new Set<View>(["preview", "statistics"]);
const BODY_HEADERS: ReadonlySet<string> = new Set(["content-type", "content-encoding", "content-length"]);

/** Tests lower it to see changes at once. */
export interface ViewLimits {
  readonly sharedMs?: number;
}

export interface ViewsOptions extends ViewLimits {
  /** Starts the views thread. */
  readonly start: () => Thread<RenderCalls>;
  readonly clock: Pick<Clock, "nowMs" | "monotonicMs">;
  readonly hostRules: Pick<HostRules, "version">;
  readonly onFault: (error: unknown) => void;
  readonly refuse: (call: Call, problem: Refusal) => Response;
}

/** Also a cache of links: it shares no view that was rendered before a change. */
export interface Views extends Memory<Code> {
  /** A handler that responds with a view. */
  readonly show: (view: View) => Handler;
  readonly ask: (view: View, call: Call, data?: string) => Promise<Response>;
  /** The figures of the instance, as JSON, without a request. Undefined if too many views wait. */
  readonly figures: () => Promise<string | undefined>;
  readonly load: Readonly<ViewLoad>;
  close(): void;
}

interface ViewLoad {
  /** Views that wait or are being rendered. */
  readonly waiting: Readonly<Record<Audience, number>>;
  /** Requests refused because too many waited. */
  refused: number;
  /** How often the thread ended by itself. */
  crashes: number;
}

type Leave = () => void;

interface Refusal {
  readonly kind: "overloaded" | "unavailable";
}

interface SharedView {
  /** As spelled in the path. */
  readonly code: string;
  readonly rendering: Promise<RenderedView>;
  untilMs: number;
  /** The rendered view. It can be sent again while the thread confirms its tag. */
  view?: RenderedView;
}

/**
 * Lets the views thread render views, so that redirects don't wait for them. The thread starts with the first view. If it
 * crashes, redirects continue.
 */
export function createViews(options: ViewsOptions): Views {
  const { start, clock, hostRules, onFault, refuse, sharedMs = SHARED_MS } = options;
  let thread: Thread<RenderCalls> | undefined;
  let startAgainAtMs = 0;
  const waiting = { visitors: 0, operator: 0 };
  const enter = {
    visitors: createFairShares(MAX_WAITING.visitors),
    operator: createFairShares(MAX_WAITING.operator),
  };
  const sharersOf = memoize((address) => clientSharers(clientNetwork(address)));
  const load: ViewLoad = { waiting, refused: 0, crashes: 0 };
  const shared = new Map<string, SharedView>();

  /** Holds a place of the queue until the task ends. */
  async function render(task: ViewTask, leave: Leave): Promise<RenderedView> {
    const audience = audienceOf(task);
    let current: Thread<RenderCalls> | undefined;
    waiting[audience]++;
    try {
      current = thread ??= start();
      return await current.perform("render", task);
    } catch (error) {
      // Both are undefined if the thread failed to start.
      if (error instanceof ThreadEnded && thread === current) {
        thread = undefined;
        load.crashes++;
        startAgainAtMs = clock.monotonicMs() + RESTART_AFTER_MS;
        onFault(error);
      }
      throw error;
    } finally {
      waiting[audience]--;
      leave();
    }
  }

  function renderShared(
    key: string,
    task: ViewTask,
    before: RenderedView | undefined,
    leave: Leave,
  ): Promise<RenderedView> {
    const { code } = task;
    const entry: SharedView = {
      code,
      rendering: renderAgain(task, before, leave),
      untilMs: Number.POSITIVE_INFINITY,
    };
    shared.delete(key);
    shared.set(key, entry);
    void settle(key, entry);
    const [oldest] = shared.keys();
    if (shared.size > MAX_SHARED && oldest !== undefined) shared.delete(oldest);
    return entry.rendering;
  }

  /** Renders a view, unless the one from `before` is still current. */
  async function renderAgain(
    task: ViewTask,
    before: RenderedView | undefined,
    leave: Leave,
  ): Promise<RenderedView> {
    const view = await render(before === undefined ? task : { ...task, knownTag: tagOf(before) }, leave);
    return view.status === 304 && before !== undefined ? before : view;
  }

  async function settle(key: string, entry: SharedView): Promise<void> {
    const view = await entry.rendering.catch(() => undefined);
    if (!isSuccess(view)) {
      if (shared.get(key) === entry) shared.delete(key);
      return;
    }
    entry.untilMs = clock.monotonicMs() + sharedMs;
    if (view.status === 200) entry.view = view;
  }

  /** Problems are not shared: a link that did not exist a moment ago may exist now. */
  async function find(task: ViewTask, sharers: readonly string[]): Promise<RenderedView | Refusal> {
    const { view, keyPrefix, code, query, headers, data, rulesVersion } = task;
    // A view with data is a refused form or the operator's, which nobody else sees.
    const isShared = data === "";
    const forAll = JSON.stringify([view, keyPrefix, code, query, headers, rulesVersion]);
    const before = isShared ? shared.get(forAll)?.view : undefined;
    // The caller's tag is compared with a cached view here, otherwise by the thread, whose 304 is only for callers with this tag.
    const key = before === undefined ? forAll + task.knownTag : forAll;
    for (const one of isShared ? new Set([forAll, key]) : []) {
      const entry = shared.get(one);
      if (entry === undefined || clock.monotonicMs() >= entry.untilMs) continue;
      const current = await entry.rendering.catch(() => undefined);
      if (isSuccess(current)) return current;
    }
    const leave = admit(task, sharers);
    if (typeof leave === "object") {
      load.refused++;
      return leave;
    }
    return isShared ? renderShared(key, task, before, leave) : render(task, leave);
  }

  function admit(task: ViewTask, sharers: readonly string[]): Leave | Refusal {
    const isReady = thread !== undefined || clock.monotonicMs() >= startAgainAtMs;
    if (!isReady) return { kind: "unavailable" };
    return enter[audienceOf(task)](sharers) ?? { kind: "overloaded" };
  }

  async function figures(): Promise<string | undefined> {
    const task: ViewTask = {
      view: "adminApi",
      keyPrefix: "",
      code: "",
      query: "",
      headers: "{}",
      knownTag: "",
      data: JSON.stringify({ view: "figures" }),
      nowMs: clock.nowMs(),
      rulesVersion: hostRules.version(),
    };
    const leave = admit(task, []);
    if (typeof leave === "object") return undefined;
    const { status, body } = await render(task, leave);
    return status === 200 ? new TextDecoder().decode(body) : undefined;
  }

  async function ask(view: View, call: Call, data = ""): Promise<Response> {
    const { code, request } = call;
    const headers = JSON.stringify(headersOf(call));
    const task: ViewTask = {
      view,
      keyPrefix: call.domain.keyPrefix,
      code,
      query: queryFor(view, request),
      headers,
      knownTag: TAGGED_BEFORE.has(view) ? knownTagOf(call.headers) : "",
      data,
      nowMs: clock.nowMs(),
      rulesVersion: hostRules.version(),
    };
    const sharers = audienceOf(task) === "visitors" ? sharersOf(call.client().address) : [];
    try {
      const result = await find(task, sharers);
      if ("kind" in result) return refuse(call, result);
      return answerWith(result, call.headers);
    } catch (error) {
      if (error instanceof ThreadEnded) return refuse(call, { kind: "unavailable" });
      throw error;
    }
  }

  return {
    show: (view) => (call) => ask(view, call),
    ask,
    figures,
    load,
    forget(code) {
      for (const [key, { code: spelling }] of shared) if (lookUpCode(spelling) === code) shared.delete(key);
    },
    forgetAll: () => shared.clear(),
    close() {
      const ending = thread;
      thread = undefined;
      ending?.terminate();
    },
  };
}

function audienceOf({ view }: ViewTask): Audience {
  return view.startsWith("admin") ? "operator" : "visitors";
}

function isSuccess(view: RenderedView | undefined): view is RenderedView {
  return view !== undefined && view.status < 400;
}

function tagOf({ headers }: RenderedView): string {
  return (JSON.parse(headers) as Record<string, string>)["etag"] ?? "";
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
