// The fields of the operator's API. Absent values are null, and instants are ISO 8601.
import { hasPassword } from "../links/link.ts";
import { DAY_MS } from "../links/time.ts";
import type { Figures, TopHosts } from "./figures.ts";
import type { LinkDetails, InspectedLink, Inspection } from "./inspection.ts";
import type { Note } from "./reports/case.ts";
import { operatorStateOf } from "./search.ts";
import type { HostRule, JournalEntry } from "./store.ts";

export function toldLink(link: InspectedLink, nowMs: number) {
  const { code, originalUrl, target, createdMs, endsMs, disabled, blocked, terms = {} } = link;
  return {
    code,
    original_url: originalUrl,
    target,
    state: operatorStateOf(link, nowMs),
    /** Why it is disabled. */
    reason: disabled === "deleted" ? null : (disabled ?? null),
    /** The reason of the rule that its target is under. */
    blocked: blocked ?? null,
    created: instant(createdMs),
    expiration_date: instant(endsMs),
    starts: instantOrNull(terms.startsMs),
    max_visits: terms.maxVisits ?? null,
    /** How many of these have been used. */
    counted_visits: terms.maxVisits === undefined ? null : (terms.visits ?? 0),
    has_password: hasPassword(link),
    /** How it ended, if not because its time was over: "withdrawn" by its maker, or all its "visits" are used. */
    ended: terms.ended ?? null,
    /** When its maker last changed the target. */
    changed: instantOrNull(terms.changedMs),
    former_host: terms.formerHost ?? null,
  };
}

export function toldInspected({ link, visits, bots, history, reported }: LinkDetails, nowMs: number) {
  return {
    ...toldLink(link, nowMs),
    visits,
    bots,
    case: reported === undefined ? null : { ...toldReports(reported), notes: reported.notes.map(toldNote) },
    history: history.map(toldEntry),
  };
}

export function toldEntry({ atMs, who, action, code, host, reason, note }: JournalEntry) {
  return {
    at: instant(atMs),
    who,
    action,
    code: code ?? null,
    host: host ?? null,
    reason: reason ?? null,
    note: note ?? null,
  };
}

export function toldRule({ host, reason, sinceMs }: HostRule) {
  return { host, reason, since: instant(sinceMs) };
}

type InspectedCase = Awaited<ReturnType<Inspection["cases"]>>["items"][number];

export function toldCase(found: InspectedCase, nowMs: number) {
  return {
    code: found.code,
    ...toldReports(found),
    link: found.link === undefined ? null : toldLink(found.link, nowMs),
  };
}

function toldReports(found: Omit<InspectedCase, "link" | "cursor" | "notes">) {
  const { reports, pending, reasons, firstMs, lastMs, disabledMs, answer } = found;
  return {
    state: answer === undefined ? "open" : "answered",
    reports,
    pending,
    reasons,
    first: instant(firstMs),
    last: instant(lastMs),
    /** When the reports disabled the link by themselves. */
    disabled: disabledMs === undefined ? null : instant(disabledMs),
    answer: answer === undefined ? null : { action: answer.action, at: instant(answer.atMs) },
  };
}

function toldNote({ atMs, reason, note }: Note) {
  return { at: instant(atMs), reason, note };
}

export function toldFigures(figures: Figures) {
  const { links, disabled, blockedHosts, newestHosts, visitedHosts, days } = figures;
  return {
    links,
    disabled,
    blocked_hosts: blockedHosts,
    /** Where the newest links lead. */
    newest_hosts: toldHosts(newestHosts),
    /** Where the links lead that were visited today. */
    visited_hosts: toldHosts(visitedHosts),
    days: days.map(({ day, counts }) => ({ date: dateOf(day), ...counts })),
  };
}

/** `complete` is false if there are more than so many links. */
function toldHosts({ hosts, links, isAll }: TopHosts) {
  return { hosts, links, complete: isAll };
}

/** A day since 1970-01-01, as 2026-11-21. */
export function dateOf(day: number): string {
  return instant(day * DAY_MS).slice(0, 10);
}

function instantOrNull(ms: number | undefined): string | null {
  return ms === undefined ? null : instant(ms);
}

function instant(ms: number): string {
  return new Date(ms).toISOString();
}
