import type { HostRules } from "../../guard/hosts.ts";
import { negotiateLanguage } from "../../language/messages.ts";
import type { Clock } from "../../links/clock.ts";
import { type Thread, ThreadEnded } from "../../thread.ts";
import { answer, prefersHtml } from "../answers.ts";
import type { Call, Handler } from "../call.ts";
import { acceptsGzip } from "../compression.ts";
import { knowsAlready } from "../conditional.ts";
import { askedLanguage, rememberedLanguage } from "../page-language.ts";
import { answerProblem } from "../problems.ts";
import { queryOf } from "../url.ts";
import type { MadeView, View, ViewTask } from "./view.ts";

/** Further requests get 503, so that the queue stays short. The operator's have places that visitors cannot take. */
const MAX_WAITING = { visitors: 64, operator: 16 };
/** How long equal requests share one answer. */
const SHARED_MS = 1000;
const MAX_SHARED = 100;
/** How long to wait after a crash. */
const RESTART_AFTER_MS = 1000;
/** None of our tags is longer. */
const MAX_TAG_LENGTH = 256;
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

export interface Views {
  /** A route that is answered with a view. */
  readonly show: (view: View) => Handler;
  readonly ask: (view: View, call: Call, data?: string) => Promise<Response>;
  close(): void;
}

interface Shared {
  readonly made: Promise<MadeView>;
  untilMs: number;
}

/**
 * Lets another thread make the views, so that redirects do not wait for them. The thread is started when it is first
 * needed. If it crashes, redirects continue.
 */
export function createViews({ start, clock, hostRules, onFault, sharedMs = SHARED_MS }: ViewsOptions): Views {
  let thread: Thread<ViewTask> | undefined;
  let startAgainAtMs = 0;
  const waiting = { visitors: 0, operator: 0 };
  const shared = new Map<string, Shared>();

  async function make(task: ViewTask): Promise<MadeView> {
    thread ??= start();
    const asked = thread;
    const from = senderOf(task);
    waiting[from]++;
    try {
      return (await asked.perform(task)) as MadeView;
    } catch (error) {
      if (error instanceof ThreadEnded && thread === asked) {
        thread = undefined;
        startAgainAtMs = clock.monotonicMs() + RESTART_AFTER_MS;
        onFault(error);
      }
      throw error;
    } finally {
      waiting[from]--;
    }
  }

  function makeShared(key: string, task: ViewTask): Promise<MadeView> {
    const entry = { made: make(task), untilMs: Number.POSITIVE_INFINITY };
    shared.set(key, entry);
    void settle(key, entry);
    const [oldest] = shared.keys();
    if (shared.size > MAX_SHARED && oldest !== undefined) shared.delete(oldest);
    return entry.made;
  }

  async function settle(key: string, entry: Shared): Promise<void> {
    const made = await entry.made.catch(() => undefined);
    if (isView(made)) entry.untilMs = clock.monotonicMs() + sharedMs;
    else if (shared.get(key) === entry) shared.delete(key);
  }

  /** Problems are not shared: a link that did not exist a moment ago may exist now. */
  async function find(task: ViewTask): Promise<MadeView | undefined> {
    const { view, code, query, headers, data, rulesVersion } = task;
    const key = JSON.stringify([view, code, query, headers, rulesVersion]);
    // A view with data of its own is a refused form or the operator's, which nobody else sees.
    const known = data === "" ? shared.get(key) : undefined;
    if (known !== undefined && clock.monotonicMs() < known.untilMs) {
      const made = await known.made.catch(() => undefined);
      if (isView(made)) return made;
    }
    const isReady = thread !== undefined || clock.monotonicMs() >= startAgainAtMs;
    const from = senderOf(task);
    if (!isReady || waiting[from] >= MAX_WAITING[from]) return undefined;
    return data === "" ? makeShared(key, task) : make(task);
  }

  async function ask(view: View, call: Call, data = ""): Promise<Response> {
    const { code, request } = call;
    const headers = JSON.stringify(headersOf(call, view));
    try {
      const made = await find({
        view,
        code,
        query: view === "interstitial" ? languageOf(request) : queryOf(request),
        headers,
        data,
        nowMs: clock.nowMs(),
        rulesVersion: hostRules.version(),
      });
      if (made === undefined) return answerProblem(call, { kind: "unavailable" });
      return answerWith(made, call.headers);
    } catch (error) {
      if (error instanceof ThreadEnded) return answerProblem(call, { kind: "unavailable" });
      throw error;
    }
  }

  return {
    show: (view) => (call) => ask(view, call),
    ask,
    close() {
      const ending = thread;
      thread = undefined;
      ending?.terminate();
    },
  };
}

function senderOf({ view }: ViewTask): keyof typeof MAX_WAITING {
  return view.startsWith("admin") ? "operator" : "visitors";
}

/**
 * All of a query that an interstitial depends on. A short address may be asked for with any query and is not limited, so
 * nobody may get a view of their own that way.
 */
function languageOf(request: Request): string {
  const language = askedLanguage(request);
  return language === undefined ? "" : `?language=${language}`;
}

function isView(made: MadeView | undefined): made is MadeView {
  return made !== undefined && made.status < 400;
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
 * are not among them, or else everybody could ask for a view of their own. Only a preview is told: making one is dear.
 */
function headersOf({ headers }: Call, view: View): Record<string, string> {
  const language = rememberedLanguage(headers);
  const cameFrom = headers.get("sec-fetch-site");
  const known = headers.get("if-none-match");
  return {
    Accept: prefersHtml(headers.get("accept")) ? "text/html" : "application/json",
    "Accept-Language": negotiateLanguage(headers.get("accept-language")),
    ...(acceptsGzip(headers.get("accept-encoding")) && { "Accept-Encoding": "gzip" }),
    ...(language !== undefined && { Cookie: `language=${language}` }),
    ...(cameFrom !== null && { "Sec-Fetch-Site": cameFrom === "same-origin" ? cameFrom : "cross-site" }),
    ...(view === "preview" && known !== null && known.length <= MAX_TAG_LENGTH && { "If-None-Match": known }),
  };
}
