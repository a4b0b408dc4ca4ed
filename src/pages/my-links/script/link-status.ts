import { DAY_MS } from "../../../links/time.ts";
import { ask, type Link } from "../../shared/script/api-call.ts";
import { codeOf, type Made, pathOf, type Told } from "./saved-links.ts";

/** How long to wait for the service's answer about a link. */
const WAIT_MS = 5000;
const MINUTE_MS = 60_000;
/** A link that has gone does not come back. */
const GONE_FOR_MS = DAY_MS;

/** What the service says of a link now, or how long to wait before asking again. */
type Answer = Pick<Made, "target"> & { readonly told: Told };
interface Refused {
  /** If not, the service cannot be reached. */
  readonly isLimited: boolean;
  readonly waitMs: number;
}

export async function askAbout(made: Made): Promise<Answer | Refused> {
  try {
    const path = pathOf(codeOf(made));
    const asked = (key?: string) =>
      ask<Link>(path, {
        signal: AbortSignal.timeout(WAIT_MS),
        ...(key !== undefined && { headers: { Authorization: `Bearer ${key}` } }),
      });
    const first = await asked(made.key);
    // The code belongs to another link now.
    const { status, data, reason, pollMs } = first.status === 403 ? await asked() : first;
    if (status === 429) return { isLimited: true, waitMs: Math.max(pollMs, 1000) };
    if (status >= 500) return { isLimited: false, waitMs: MINUTE_MS / 2 };
    if (data?.created === made.created) {
      const { state, visits, expires: ends, original_url: target } = data;
      return { target: target ?? undefined, told: { state, visits, ends, atMs: Date.now() } };
    }
    const state = reason === "link.withdrawn" || reason === "link.disabled" ? reason.slice(5) : "gone";
    return { told: { state, visits: made.told?.visits ?? 0, ends: null, atMs: Date.now() } };
  } catch {
    return { isLimited: false, waitMs: MINUTE_MS / 2 };
  }
}

/** Whether what was told is so old that it is worth asking again. */
export function isStale({ told }: Made): boolean {
  if (told === undefined) return true;
  // The clock may have been ahead then.
  const ageMs = Math.abs(Date.now() - told.atMs);
  return ageMs > (told.state === "gone" ? GONE_FOR_MS : MINUTE_MS);
}

/** What became of a link: its state, in words of the page. */
export function describeState({ told }: Made, words: DOMStringMap): string {
  if (told === undefined) return words["unknown"] ?? "";
  const { state, ends } = told;
  if (state !== "active") return words[state] ?? "";
  return ends === null ? (words["never"] ?? "") : timeLeft(Date.parse(ends) - Date.now(), words);
}

function timeLeft(leftMs: number, words: DOMStringMap): string {
  if (!(leftMs > 0)) return words["expired"] ?? "";
  const style = words["times"] === "narrow" ? "narrow" : "long";
  const format = new Intl.RelativeTimeFormat(document.documentElement.lang, { style });
  const [count, unit] =
    leftMs >= 2 * DAY_MS
      ? ([leftMs / DAY_MS, "day"] as const)
      : leftMs >= DAY_MS / 12
        ? ([(leftMs / DAY_MS) * 24, "hour"] as const)
        : ([(leftMs / DAY_MS) * 1440, "minute"] as const);
  return (words["ends"] ?? "").replace("{left}", format.format(Math.max(1, Math.round(count)), unit));
}
