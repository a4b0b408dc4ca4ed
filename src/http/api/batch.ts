import { isProblem } from "../../links/problem.ts";
import { negotiateLanguage } from "../../locales/messages.ts";
import type { Limiter } from "../limiter.ts";
import { malformed, problemJson } from "../problems.ts";
import { success } from "./envelope.ts";
import { parseArray, readJsonText } from "./json-body.ts";
import type { Make } from "./makers.ts";
import type { Making } from "./making.ts";
import { type Enter, MANY_SECONDS, type Turn } from "./places.ts";
import { readItem, requestsOf, tellResults } from "./results.ts";

/** Links in one array. */
export const MAX_BATCH = 500;
export const MAX_BATCH_BYTES = 1024 * 1024;

export interface BatchOptions {
  readonly limiter: Pick<Limiter, "most">;
  readonly making: Pick<Making, "makeAll">;
  readonly enter: Enter;
  readonly turn: Turn;
}

/** Makes the links of an array in one commit. A larger array than a limit ever lets through is too long, too. */
export function createBatch({ limiter, making, enter, turn }: BatchOptions): Make {
  const max = Math.min(MAX_BATCH, limiter.most("create"));

  const make: Make = async (call, dialect, path, recognize) => {
    const text = await readJsonText(call.request, MAX_BATCH_BYTES);
    if (isProblem(text)) return problemJson(call, text);
    await turn();
    const bodies = parseArray(text, dialect.example);
    if (isProblem(bodies)) return problemJson(call, bodies);
    const count = bodies.value.length;
    if (count === 0 || count > max) return problemJson(call, malformed({ rule: "batch.length", max, count }));
    const asked = bodies.value.map((body) => readItem(body, dialect));
    const outcomes = await making.makeAll(call, requestsOf(asked), recognize?.(path, text));
    if (isProblem(outcomes)) return problemJson(call, outcomes);
    await turn();
    const language = negotiateLanguage(call.headers.get("accept-language"));
    const results = tellResults(asked, outcomes, { dialect, domain: call.domain, language });
    return success(call, 200, "batch", { results });
  };

  return async (call, ...rest) => {
    const leave = enter(call);
    if (leave === undefined) return problemJson(call, { kind: "unavailable" });
    call.mayTake(MANY_SECONDS);
    return make(call, ...rest).finally(leave);
  };
}
