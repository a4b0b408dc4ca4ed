import { negotiateLanguage } from "../../language/messages.ts";
import type { Clock } from "../../links/clock.ts";
import { type Thread, ThreadEnded } from "../../thread.ts";
import { answer, prefersHtml } from "../answers.ts";
import type { Call, Handler } from "../call.ts";
import { acceptsGzip } from "../compression.ts";
import { rememberedLanguage } from "../page-language.ts";
import { answerProblem } from "../problems.ts";
import { queryOf } from "../url.ts";
import type { MadeView, View, ViewTask } from "./view.ts";

/** More are answered with 503, so that waiting stays bounded. */
const MAX_WAITING = 64;
/** How long everybody who asks for the same gets the same. */
const SHARED_MS = 1000;
const MAX_SHARED = 100;
/** After a crash. */
const RESTART_AFTER_MS = 1000;
/** A longer one is none of ours. */
const MAX_TAG_LENGTH = 256;

/** Lower in tests, which change what they see. */
export interface ViewLimits {
  readonly sharedMs?: number;
}

export interface ViewsOptions extends ViewLimits {
  /** Starts the thread that makes views. */
  readonly start: () => Thread<ViewTask>;
  readonly clock: Pick<Clock, "nowMs" | "monotonicMs">;
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
 * Has what is dearer than a redirect made by another thread, which is started when it is first needed. The redirects do
 * not wait for it, and when it crashes, they go on.
 */
export function createViews({ start, clock, onFault, sharedMs = SHARED_MS }: ViewsOptions): Views {
  let thread: Thread<ViewTask> | undefined;
  let startAgainAtMs = 0;
  let waiting = 0;
  const shared = new Map<string, Shared>();

  async function make(task: ViewTask): Promise<MadeView> {
    thread ??= start();
    const asked = thread;
    waiting++;
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
      waiting--;
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

  /** Of an earlier answer only a view is shared: what was not there when it was asked for may be there now. */
  async function find(task: ViewTask): Promise<MadeView | undefined> {
    const { view, code, query, headers, data } = task;
    const key = JSON.stringify([view, code, query, headers]);
    // A view with data of its own is a refused form, which nobody else sees.
    const known = data === "" ? shared.get(key) : undefined;
    if (known !== undefined && clock.monotonicMs() < known.untilMs) {
      const made = await known.made.catch(() => undefined);
      if (isView(made)) return made;
    }
    const isReady = thread !== undefined || clock.monotonicMs() >= startAgainAtMs;
    if (!isReady || waiting >= MAX_WAITING) return undefined;
    return data === "" ? makeShared(key, task) : make(task);
  }

  async function ask(view: View, call: Call, data = ""): Promise<Response> {
    const { code, request } = call;
    const headers = JSON.stringify(headersOf(call));
    try {
      const made = await find({ view, code, query: queryOf(request), headers, data, nowMs: clock.nowMs() });
      if (made === undefined) return answerProblem(call, { kind: "unavailable" });
      const { status, body } = made;
      return answer({ status, body, headers: JSON.parse(made.headers) as Record<string, string> });
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

function isView(made: MadeView | undefined): made is MadeView {
  return made !== undefined && made.status < 400;
}

/** What a view depends on, in as few forms as there are views. */
function headersOf({ headers }: Call): Record<string, string> {
  const language = rememberedLanguage(headers);
  const cameFrom = headers.get("sec-fetch-site");
  const known = headers.get("if-none-match");
  return {
    Accept: prefersHtml(headers.get("accept")) ? "text/html" : "application/json",
    "Accept-Language": negotiateLanguage(headers.get("accept-language")),
    ...(acceptsGzip(headers.get("accept-encoding")) && { "Accept-Encoding": "gzip" }),
    ...(language !== undefined && { Cookie: `language=${language}` }),
    ...(cameFrom !== null && { "Sec-Fetch-Site": cameFrom === "same-origin" ? cameFrom : "cross-site" }),
    ...(known !== null && known.length <= MAX_TAG_LENGTH && { "If-None-Match": known }),
  };
}
