import type { CounterName } from "./counters.ts";

/** The figures of the instance. Those that would take long are of a bounded number of links. */
export interface Figures {
  /** About: links that were deleted may count. */
  readonly links: number;
  /** Links that the operator has disabled or deleted, up to {@link MAX_COUNTED_DISABLED}. */
  readonly disabled: number;
  readonly blockedHosts: number;
  /** Where the newest links lead, most links first. */
  readonly newestHosts: TopHosts;
  /** Where the links lead that were visited today, most visits first. */
  readonly visitedHosts: TopHosts;
  /** What was counted on each of the last {@link FIGURE_DAYS} days (UTC) with any, oldest first. */
  readonly days: readonly DayFigures[];
}

export interface TopHosts {
  /** At most {@link TOP_HOSTS}. */
  readonly hosts: readonly { readonly host: string; readonly count: number }[];
  /** Of so many links. */
  readonly links: number;
  /** False if there were more. */
  readonly isAll: boolean;
}

/** `bots` are not among `visits`. What was never counted is missing. */
export interface DayFigures {
  /** Since 1970-01-01. */
  readonly day: number;
  readonly counts: Partial<Readonly<Record<CounterName | "visits" | "bots", number>>>;
}

export const MAX_COUNTED_DISABLED = 100_000;
export const FIGURE_DAYS = 8;
const TOP_HOSTS = 10;
/** Links that are looked at for their hosts. */
export const FIGURE_LINKS = 10_000;

/** Adds up by host. What has no host, as a deleted link, or no visits does not appear. */
export function topHosts(
  links: readonly { readonly host: string; readonly count: number }[],
): Pick<TopHosts, "hosts" | "links" | "isAll"> {
  const counts = new Map<string, number>();
  for (const { host, count } of links)
    if (host !== "" && count > 0) counts.set(host, (counts.get(host) ?? 0) + count);
  const hosts = [...counts].map(([host, count]) => ({ host, count }));
  return {
    hosts: hosts.toSorted((a, b) => b.count - a.count || (a.host < b.host ? -1 : 1)).slice(0, TOP_HOSTS),
    links: links.length,
    isAll: links.length < FIGURE_LINKS,
  };
}
