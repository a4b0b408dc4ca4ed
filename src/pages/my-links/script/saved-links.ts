import { DAY_MS } from "../../../links/time.ts";
import { ask, type Link, read, write } from "../../shared/script.ts";

/** The key of the list in local storage. The list never leaves this browser. */
export const LIST = "curt.made-here";
/** Local storage has room for about five million characters, and a link takes 300. */
const MAX_LINKS = 10_000;

/** A link that was made in this browser. */
export interface Made {
  /** Its address in the API. The last segment is its code. */
  readonly path: string;
  /** To notice if the code now belongs to a newer link. */
  readonly created: string;
  /** The manage key. Links that were made before this was kept have none. */
  readonly key?: string | undefined;
  readonly target?: string | undefined;
  /** What the service told of it last. */
  readonly told?: Told | undefined;
}

interface Told {
  readonly state: string;
  readonly visits: number;
  /** When it ends; null if never. */
  readonly ends: string | null;
  readonly atMs: number;
}

/** The latest first. What cannot be read is left out. */
export function madeHere(): Made[] {
  try {
    const list: unknown = JSON.parse(read("localStorage", LIST) ?? "[]");
    return Array.isArray(list) ? list.filter(isMade).slice(0, MAX_LINKS).map(withoutSpoilt) : [];
  } catch {
    return [];
  }
}

/**
 * Reads the list first, because another tab may have changed it. Returns false if the browser did not keep the change.
 */
export function changeMade(change: (list: Made[]) => readonly Made[]): boolean {
  const list = change(madeHere())
    .toSorted((one, other) => (one.created < other.created ? 1 : one.created > other.created ? -1 : 0))
    .slice(0, MAX_LINKS);
  return write("localStorage", LIST, list.length === 0 ? null : JSON.stringify(list));
}

/** Keeps what the service said of these links, so that it can be searched and shown while the service is away. */
export function keepTold(links: readonly Made[]): void {
  if (links.length === 0) return;
  const fresh = new Map(links.map((made) => [made.path, made]));
  changeMade((list) =>
    list.map((made) => {
      const { created, target, told } = fresh.get(made.path) ?? {};
      return created === made.created ? { ...made, target, told } : made;
    }),
  );
}

export function codeOf({ path }: Pick<Made, "path">): string {
  return decodeURIComponent(path.slice(path.lastIndexOf("/") + 1));
}

function pathOf(code: string): string {
  return `/api/v1/links/${encodeURIComponent(code)}`;
}

/** The short address of a code, as the service writes it. */
export function addressOf(code: string, base: string): string {
  return `${base}/${code.replaceAll("#", "%23")}/`;
}

function isMade(one: Partial<Made> | null): one is Made {
  return (
    typeof one?.path === "string" &&
    typeof one.created === "string" &&
    isTextOrAbsent(one.key) &&
    isTextOrAbsent(one.target) &&
    isReadable(one.path)
  );
}

/** What was told can be asked for again. */
function withoutSpoilt(made: Made): Made {
  return isTold(made.told) ? made : { ...made, told: undefined };
}

function isTold(told: Partial<Told> | null | undefined): told is Told {
  return (
    typeof told?.state === "string" &&
    typeof told.visits === "number" &&
    typeof told.atMs === "number" &&
    (told.ends === null || typeof told.ends === "string")
  );
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}

function isReadable(path: string): boolean {
  try {
    return codeOf({ path }).isWellFormed();
  } catch {
    return false;
  }
}

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
