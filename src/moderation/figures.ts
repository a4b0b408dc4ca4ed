import type { CounterName } from "./counters.ts";

/** The figures of the instance. Expensive ones cover a bounded number of links. */
export interface Figures {
  /** Approximate. */
  readonly links: number;
  /** Links that the operator has disabled or deleted, up to {@link MAX_COUNTED_DISABLED}. */
  readonly disabled: number;
  readonly blockedHosts: number;
  /** The targets of the newest links, most links first. */
  readonly newestHosts: TopHosts;
  /** The targets of the links that were visited today, most visits first. */
  readonly visitedHosts: TopHosts;
  /** The last {@link FIGURE_DAYS} days (UTC) with any counts, oldest first. */
  readonly days: readonly DayFigures[];
}

export interface TopHosts {
  /** At most {@link TOP_HOSTS}. */
  readonly hosts: readonly { readonly host: string; readonly count: number }[];
  /** How many links were read. */
  readonly links: number;
  /** False if there are more links. */
  readonly isAll: boolean;
}

/** `visits` don't include `bots`. Zero counts are missing. */
export interface DayFigures {
  /** Since 1970-01-01. */
  readonly day: number;
  readonly counts: Partial<Readonly<Record<CounterName | "visits" | "bots", number>>>;
}

export const MAX_COUNTED_DISABLED = 100_000;
export const FIGURE_DAYS = 30;
const TOP_HOSTS = 10;
/** Links that are read for their hosts. */
export const FIGURE_LINKS = 10_000;

/** Adds up by host. Skips entries without a host, such as deleted links, or without a count. */
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
