import { DAY_MS } from "../links/time.ts";
import { parseHost } from "./hosts.ts";
import { LINK_STATES, type LinkQuery } from "./search.ts";

/** A search as the operator writes it. Empty fields are as good as none. */
export const SEARCH_FIELDS = ["q", "host", "state", "made_from", "made_to"] as const;
export type WrittenSearch = Readonly<Record<(typeof SEARCH_FIELDS)[number], string>>;

/** Why a search is refused. The rule begins with the field, and is also the key of the message. */
export type SearchRefusal =
  | { rule: "host.invalid" }
  | { rule: "state.unknown"; values: string }
  | { rule: "made_from.invalid" | "made_to.invalid"; example: string };

export interface RefusedSearch {
  readonly kind: "refused";
  readonly refusals: readonly SearchRefusal[];
}

/** ISO 8601: a day (UTC), or an instant. */
const DAY = /^\d{4}-\d\d-\d\d$/;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/;

export function parseSearch({
  q,
  host,
  state,
  made_from,
  made_to,
}: WrittenSearch): LinkQuery | RefusedSearch {
  const refusals: SearchRefusal[] = [];
  const read = <T>(written: string, parse: (text: string) => T | undefined, refusal: SearchRefusal) => {
    if (written === "") return undefined;
    const value = parse(written);
    if (value === undefined) refusals.push(refusal);
    return value;
  };
  const example = "2026-11-21";
  const query = {
    text: q.trim() || undefined,
    host: read(host, parseHost, { rule: "host.invalid" }),
    state: read(state, (text) => LINK_STATES.find((one) => one === text), {
      rule: "state.unknown",
      values: LINK_STATES.join(", "),
    }),
    madeFromMs: read(made_from, (text) => parseTime(text), { rule: "made_from.invalid", example }),
    // The last day belongs to it.
    madeBeforeMs: read(made_to, (text) => parseTime(text, DAY_MS), { rule: "made_to.invalid", example }),
  };
  return refusals.length > 0 ? { kind: "refused", refusals } : query;
}

function parseTime(text: string, dayMs = 0): number | undefined {
  const isDay = DAY.test(text);
  const ms = isDay || INSTANT.test(text) ? Date.parse(text) : Number.NaN;
  const day = text.slice(0, 10);
  // Date.parse takes 30 February for 2 March.
  const isReal = !Number.isNaN(ms) && new Date(Date.parse(day)).toISOString().startsWith(day);
  return isReal ? ms + (isDay ? dayMs : 0) : undefined;
}
