import { DAY_MS } from "../../../links/time.ts";
import { bearer, callApi, type Link, read, write } from "../../shared/script.ts";

/** Local storage holds about five million characters, and a link takes 300. */
const MAX_LINKS = 10_000;
const WAIT_MS = 5000;
export const MINUTE_MS = 60_000;
/** Local storage. The list never leaves this browser. */
export const LIST = "curt.made-here";

/** A link created in this browser. */
export interface SavedLink {
  /** Its address in the API, which ends with the code. */
  readonly path: string;
  /** Detects that the code now belongs to a newer link. */
  readonly created: string;
  /** Undefined for links from before the key was stored. */
  readonly key?: string | undefined;
  readonly target?: string | undefined;
  readonly title?: string | undefined;
  /** Set for a link that its maker took off the list: the key stays until it is deleted permanently. */
  readonly removed?: true | undefined;
  /** Set for a link of the person who is signed in: the service knows it, and it needs no key. */
  readonly isOwn?: true;
  /** The last status from the service. */
  readonly status?: Status | undefined;
}

/** A link as browsers have stored it since the first version. */
type StoredLink = Omit<SavedLink, "status"> & { readonly told?: Partial<Status> | null | undefined };

interface Status {
  readonly state: string;
  readonly visits: number;
  /** Null if never. */
  readonly ends: string | null;
  readonly atMs: number;
}

/** The latest first, with those that were removed. */
export function savedLinks(): SavedLink[] {
  return parseLinks(read("localStorage", LIST) ?? "");
}

/** Without unreadable entries. */
export function parseLinks(text: string): SavedLink[] {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.filter(isStoredLink).slice(0, MAX_LINKS).map(fromStored) : [];
  } catch {
    return [];
  }
}

/**
 * Reads the list again first, because another tab may have changed it. Returns false if the browser refuses to store it, or has a
 * list in another format.
 */
export function changeSavedLinks(change: (list: SavedLink[]) => readonly SavedLink[]): boolean {
  if (!/^\s*(?:\[|$)/.test(read("localStorage", LIST) ?? "")) return false;
  const list = change(savedLinks())
    .toSorted((one, other) => (one.created < other.created ? 1 : one.created > other.created ? -1 : 0))
    .slice(0, MAX_LINKS)
    .map(({ status, ...saved }): StoredLink => ({ ...saved, told: status }));
  return write("localStorage", LIST, list.length === 0 ? null : JSON.stringify(list));
}

/**
 * Both lists, with the key that either has for the same link. Of links with the same code, the first list's, unless it's gone. No
 * link of the first list makes room for the other's.
 */
export function mergeLinks(list: readonly SavedLink[], others: readonly SavedLink[]): SavedLink[] {
  const byPath = new Map(others.map((saved) => [saved.path, saved]));
  const merged = list.map((saved) => {
    const other = byPath.get(saved.path);
    byPath.delete(saved.path);
    if (other?.created === saved.created) return { ...other, ...saved, key: saved.key ?? other.key };
    return other && saved.status?.state === "gone" ? other : saved;
  });
  return [...merged, ...byPath.values()].slice(0, MAX_LINKS);
}

/** Stores the status of links, to search and show them while the service is unavailable. */
export function saveStatuses(links: readonly SavedLink[]): void {
  if (links.length === 0) return;
  const fresh = new Map(links.map((saved) => [saved.path, saved]));
  changeSavedLinks((list) =>
    list.map((saved) => {
      const { created, target, title, status } = fresh.get(saved.path) ?? {};
      return created === saved.created ? { ...saved, target, title, status } : saved;
    }),
  );
}

/** Forgets a key that the service refused, as after a hand-over. */
export function forgetKey({ path, key }: Pick<SavedLink, "path" | "key">): void {
  const forget = (saved: SavedLink) =>
    saved.path === path && saved.key === key ? { ...saved, key: undefined } : saved;
  changeSavedLinks((list) => list.map(forget));
}

export function codeOf({ path }: Pick<SavedLink, "path">): string {
  return decodeURIComponent(path.slice(path.lastIndexOf("/") + 1));
}

export function addressOf(saved: SavedLink, base: string): string {
  return `${base}/${codeOf(saved).replaceAll("#", "%23")}`;
}

function isStoredLink(one: Partial<StoredLink> | null): one is StoredLink {
  return (
    typeof one?.path === "string" &&
    typeof one.created === "string" &&
    isTextOrAbsent(one.key) &&
    isTextOrAbsent(one.target) &&
    isTextOrAbsent(one.title) &&
    (one.removed === undefined || one.removed) &&
    isReadable(one.path)
  );
}

/** Drops a broken status, which can be loaded again. */
function fromStored({ told, ...saved }: StoredLink): SavedLink {
  return isStatus(told) ? { ...saved, status: told } : saved;
}

function isStatus(status: Partial<Status> | null | undefined): status is Status {
  return (
    typeof status?.state === "string" &&
    typeof status.visits === "number" &&
    typeof status.atMs === "number" &&
    (status.ends === null || typeof status.ends === "string")
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

/** The status of a link, or how long to wait before the next request. The key is absent if it still opens the link. */
type Answer = Pick<SavedLink, "target" | "title" | "key"> & { readonly status: Status };
interface Refused {
  /** If false, the service is unreachable. */
  readonly isLimited: boolean;
  readonly waitMs: number;
}

export async function loadStatus(saved: SavedLink): Promise<Answer | Refused> {
  try {
    const request = (key?: string) =>
      callApi<Link>(`/api/v1/links/${encodeURIComponent(codeOf(saved))}`, {
        signal: AbortSignal.timeout(WAIT_MS),
        ...(key !== undefined && bearer(key)),
      });
    const first = await request(saved.key);
    // The code belongs to another link now, or the link to somebody else.
    const { status: code, data, reason, pollMs } = first.status === 403 ? await request() : first;
    if (code === 429) return { isLimited: true, waitMs: Math.max(pollMs, 1000) };
    if (code >= 500) return { isLimited: false, waitMs: MINUTE_MS / 2 };
    if (data?.created_at === saved.created) {
      const { target, title } = data;
      const isRefused = first.reason === "key.wrong";
      if (isRefused) forgetKey(saved);
      return {
        target: target ?? undefined,
        title: title ?? undefined,
        status: statusOf(data),
        ...(isRefused && { key: undefined }),
      };
    }
    const state = reason === "link.withdrawn" || reason === "link.disabled" ? reason.slice(5) : "gone";
    return { status: { state, visits: saved.status?.visits ?? 0, ends: null, atMs: Date.now() } };
  } catch {
    return { isLimited: false, waitMs: MINUTE_MS / 2 };
  }
}

export function statusOf({ state, visits, expires_at: ends }: Link): Status {
  return { state, visits, ends, atMs: Date.now() };
}

export function isStale({ status }: SavedLink): boolean {
  if (status === undefined) return true;
  // The clock may have been ahead then. Deleted links don't come back.
  const ageMs = Math.abs(Date.now() - status.atMs);
  return ageMs > (status.state === "gone" ? DAY_MS : MINUTE_MS);
}

/** The state of a link in words. */
export function describeState({ status }: SavedLink, words: DOMStringMap): string {
  if (status === undefined) return words["unknown"] ?? "";
  const { state, ends } = status;
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
