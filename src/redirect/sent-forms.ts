import type { MonotonicClock } from "../links/clock.ts";
import type { Public } from "../links/link.ts";
import type { Links } from "../links/links.ts";
import { isProblem } from "../links/problem.ts";

/** How long and how many forms are remembered. Links have at most 20 KB. */
export const FORM_REMEMBERED_MS = 60_000;
const MAX_REMEMBERED = 1000;

interface Visit {
  /** The link after its visit, or why it has none left. */
  readonly result: ReturnType<Links["visit"]>;
  /** Whether this form used up the visit before. */
  readonly isRepeated: boolean;
}

/**
 * Lets a form that is sent twice, by a double click or a reload, use up one visit. After a restart, or in another process, the
 * second one uses up another, so a link never has a visit too many.
 */
export interface SentForms {
  /** Uses up a visit, unless the form has done so. `form` is the random text in the page, or "". */
  visit(link: Public, form: string): Visit;
  /** The link that the form has visited. */
  linkOf(code: string, form: string): Promise<Public | undefined>;
}

export function createSentForms({ visit }: Pick<Links, "visit">, clock: MonotonicClock): SentForms {
  /** By code and form, the oldest first. */
  const visits = new Map<string, { readonly untilMs: number; readonly result: Visit["result"] }>();
  const keyOf = (code: string, form: string) => `${code} ${form}`;

  function find(key: string): Visit["result"] | undefined {
    const known = visits.get(key);
    return known !== undefined && clock.monotonicMs() < known.untilMs ? known.result : undefined;
  }

  return {
    visit(link, form) {
      const key = keyOf(link.code, form);
      const known = find(key);
      if (known !== undefined) return { result: known, isRepeated: true };
      const result = visit(link);
      if (form === "") return { result, isRepeated: false };
      visits.delete(key);
      visits.set(key, { untilMs: clock.monotonicMs() + FORM_REMEMBERED_MS, result });
      const [oldest] = visits.keys();
      if (visits.size > MAX_REMEMBERED && oldest !== undefined) visits.delete(oldest);
      const forget = () => visits.delete(key);
      result.then((now) => !isProblem(now) || forget(), forget);
      return { result, isRepeated: false };
    },
    async linkOf(code, form) {
      const result = await find(keyOf(code, form));
      return result === undefined || isProblem(result) ? undefined : result;
    },
  };
}
