import { type Thread, ThreadEnded } from "../../lib/thread.ts";
import type { Memory } from "../../links/change-feed.ts";
import type { Clock } from "../../links/clock.ts";
import { lookUpCode } from "../../links/code.ts";
import { negotiateLanguage } from "../../locales/messages.ts";
import type { HostRules } from "../../moderation/host-rules.ts";
import type { Call, Handler } from "../call.ts";
import { acceptsGzip } from "../compression.ts";
import { knowsAlready } from "../etag.ts";
import { rememberedLanguage } from "../page-language.ts";
import { answerProblem } from "../problems.ts";
import { answer, prefersHtml } from "../responses.ts";
import { queryFor } from "./view-query.ts";
import type { MadeView, View, ViewTask } from "./view.ts";

/** Further requests get 503, so that the queue stays short. The operator's have places that visitors cannot take. */
const MAX_WAITING = { visitors: 64, operator: 16 };
type Asker = keyof typeof MAX_WAITING;
/** How long equal requests share one answer. After that, the thread is asked whether it still holds. */
const SHARED_MS = 1000;
const MAX_SHARED = 100;
/** How long to wait after a crash. */
const RESTART_AFTER_MS = 1000;
/** None of our tags is longer. */
const MAX_TAG_LENGTH = 256;
/** Views that are dear to make and whose tag is known before: if the caller has it, they need not be made. */
const ANSWER_KNOWN: ReadonlySet<View> = new Set<View>(["preview", "statistics"]);
const OF_A_BODY: ReadonlySet<string> = new Set(["content-type", "content-encoding", "content-length"]);

/** Tests lower it to see changes at once. */
export interface ViewLimits {
  readonly sharedMs?: number;
}

export interface ViewsOptions extends ViewLimits {
  /** Starts the thread that makes views. */
  readonly start: () => Thread<ViewTask>;
  readonly clock: Pick<Clock, "nowMs" | "monotonicMs">;
  readonly hostRules: Pick<HostRules, "version">;
  readonly onFault: (error: unknown) => void;
}

/** As a memory of links, it shares no view that was made before a change. */
export interface Views extends Memory {
  /** A route that is answered with a view. */
  readonly show: (view: View) => Handler;
  readonly ask: (view: View, call: Call, data?: string) => Promise<Response>;
  /** The figures of the instance, as JSON, for nobody's request. Undefined if the thread has too much to do. */
  readonly figures: () => Promise<string | undefined>;
  readonly load: Readonly<ViewLoad>;
  close(): void;
}

interface ViewLoad {
  /** Views that wait to be made, or are being made. */
  readonly waiting: Readonly<Record<Asker, number>>;
  /** Requests that were not answered because too many waited. */
  refused: number;
  /** How often the thread has ended by itself. */
  crashes: number;
}

interface Refusal {
  readonly kind: "overloaded" | "unavailable";
}

interface Shared {
  /** The code as the path spells it. */
  readonly code: string;
  readonly made: Promise<MadeView>;
  untilMs: number;
  /** The view, once it is made: it can be sent again for as long as the thread says that it did not change. */
  kept?: MadeView;
}

/**
 * Lets another thread make the views, so that redirects do not wait for them. The thread is started when it is first
 * needed. If it crashes, redirects continue.
 */
export function createViews(options: ViewsOptions): Views {
  const { start, clock, hostRules, onFault, sharedMs = SHARED_MS } = options;
  let thread: Thread<ViewTask> | undefined;
  let startAgainAtMs = 0;
  const waiting = { visitors: 0, operator: 0 };
  const load: ViewLoad = { waiting, refused: 0, crashes: 0 };
  const shared = new Map<string, Shared>();

  async function make(task: ViewTask): Promise<MadeView> {
    const from = senderOf(task);
    let asked: Thread<ViewTask> | undefined;
    waiting[from]++;
    try {
      asked = thread ??= start();
      return (await asked.perform(task)) as MadeView;
    } catch (error) {
      // Undefined both if it could not be started.
      if (error instanceof ThreadEnded && thread === asked) {
        thread = undefined;
        load.crashes++;
        startAgainAtMs = clock.monotonicMs() + RESTART_AFTER_MS;
        onFault(error);
      }
      throw error;
    } finally {
      waiting[from]--;
    }
  }

  function makeShared(key: string, task: ViewTask, before: MadeView | undefined): Promise<MadeView> {
    const { code } = task;
    const entry: Shared = { code, made: remake(task, before), untilMs: Number.POSITIVE_INFINITY };
    shared.delete(key);
    shared.set(key, entry);
    void settle(key, entry);
    const [oldest] = shared.keys();
    if (shared.size > MAX_SHARED && oldest !== undefined) shared.delete(oldest);
    return entry.made;
  }

  /** Makes a view, unless the one from `before` is still right. */
  async function remake(task: ViewTask, before: MadeView | undefined): Promise<MadeView> {
    const made = await make(before === undefined ? task : { ...task, known: tagOf(before) });
    return made.status === 304 && before !== undefined ? before : made;
  }

  async function settle(key: string, entry: Shared): Promise<void> {
    const made = await entry.made.catch(() => undefined);
    if (!isView(made)) {
      if (shared.get(key) === entry) shared.delete(key);
      return;
    }
    entry.untilMs = clock.monotonicMs() + sharedMs;
    if (made.status === 200) entry.kept = made;
  }

  /** Problems are not shared: a link that did not exist a moment ago may exist now. */
  async function find(task: ViewTask): Promise<MadeView | Refusal> {
    const { view, code, query, headers, data, rulesVersion } = task;
    // A view with data of its own is a refused form or the operator's, which nobody else sees.
    const isShared = data === "";
    let key = JSON.stringify([view, code, query, headers, rulesVersion]);
    // Where a view is kept, the caller's tag is compared with its tag. Otherwise the thread compares.
    const before = isShared ? shared.get(key)?.kept : undefined;
    if (task.known !== "" && !shared.has(key)) key += task.known;
    const entry = isShared ? shared.get(key) : undefined;
    if (entry !== undefined && clock.monotonicMs() < entry.untilMs) {
      const made = await entry.made.catch(() => undefined);
      if (isView(made)) return made;
    }
    const refusal = refusalOf(task);
    if (refusal !== undefined) {
      load.refused++;
      return refusal;
    }
    return isShared ? makeShared(key, task, before) : make(task);
  }

  function refusalOf(task: ViewTask): Refusal | undefined {
    const from = senderOf(task);
    const isReady = thread !== undefined || clock.monotonicMs() >= startAgainAtMs;
    if (!isReady) return { kind: "unavailable" };
    return waiting[from] >= MAX_WAITING[from] ? { kind: "overloaded" } : undefined;
  }

  async function figures(): Promise<string | undefined> {
    const task: ViewTask = {
      view: "adminApi",
      code: "",
      query: "",
      headers: "{}",
      known: "",
      data: JSON.stringify({ view: "figures" }),
      nowMs: clock.nowMs(),
      rulesVersion: hostRules.version(),
    };
    if (refusalOf(task) !== undefined) return undefined;
    const { status, body } = await make(task);
    return status === 200 ? new TextDecoder().decode(body) : undefined;
  }

  async function ask(view: View, call: Call, data = ""): Promise<Response> {
    const { code, request } = call;
    const headers = JSON.stringify(headersOf(call));
    try {
      const made = await find({
        view,
        code,
        query: queryFor(view, request),
        headers,
        known: ANSWER_KNOWN.has(view) ? knownTag(call.headers) : "",
        data,
        nowMs: clock.nowMs(),
        rulesVersion: hostRules.version(),
      });
      if ("kind" in made) return answerProblem(call, made);
      return answerWith(made, call.headers);
    } catch (error) {
      if (error instanceof ThreadEnded) return answerProblem(call, { kind: "unavailable" });
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

function senderOf({ view }: ViewTask): Asker {
  return view.startsWith("admin") ? "operator" : "visitors";
}

function isView(made: MadeView | undefined): made is MadeView {
  return made !== undefined && made.status < 400;
}

function tagOf({ headers }: MadeView): string {
  return (JSON.parse(headers) as Record<string, string>)["etag"] ?? "";
}

/** The tags of views that the caller has, or "". */
function knownTag(headers: Headers): string {
  const known = headers.get("if-none-match") ?? "";
  return known.length > MAX_TAG_LENGTH ? "" : known;
}

/** Answers 304 if the caller already has this view (RFC 9110, section 13.1.2). */
function answerWith({ status, body, headers: json }: MadeView, asked: Headers): Response {
  const headers = JSON.parse(json) as Record<string, string>;
  if (status !== 200 || !knowsAlready(asked, headers["etag"] ?? "")) return answer({ status, body, headers });
  const kept = Object.entries(headers).filter(([name]) => !OF_A_BODY.has(name));
  return answer({ status: 304, headers: Object.fromEntries(kept) });
}

/**
 * The headers that a view depends on, reduced to a few forms so that more requests are equal. The tags that a caller knows
 * are not among them, or else everybody could ask for a view of their own.
 */
function headersOf({ headers }: Call): Record<string, string> {
  const language = rememberedLanguage(headers);
  const cameFrom = headers.get("sec-fetch-site");
  return {
    Accept: prefersHtml(headers.get("accept")) ? "text/html" : "application/json",
    "Accept-Language": negotiateLanguage(headers.get("accept-language")),
    ...(acceptsGzip(headers.get("accept-encoding")) && { "Accept-Encoding": "gzip" }),
    ...(language !== undefined && { Cookie: `language=${language}` }),
    ...(cameFrom !== null && { "Sec-Fetch-Site": cameFrom === "same-origin" ? cameFrom : "cross-site" }),
  };
}
