// The fields of the operator's API. Absent values are null, and instants are ISO 8601.
import { versionOf } from "../../links/change.ts";
import { linkFields } from "../../links/link-fields.ts";
import { isLimited } from "../../links/link.ts";
import { isoDay, isoInstant } from "../../links/time.ts";
import type { NotedCase } from "../../moderation/case.ts";
import type { Figures, TopHosts } from "../../moderation/figures.ts";
import type { InspectedCase, InspectedLink, LinkDetails } from "../../moderation/inspection.ts";
import { operatorStateOf } from "../../moderation/link-query.ts";
import type { HostRule, DecisionEntry, Replaced } from "../../moderation/moderation-store.ts";
import { goneVersion } from "../../moderation/operator.ts";

export function linkJson(link: InspectedLink, nowMs: number) {
  const { target, disabled, blocked, terms } = link;
  return {
    ...linkFields(link, "colleagues"),
    created_by: terms?.createdBy,
    visits_used: isLimited(link) ? (terms?.visits ?? 0) : null,
    /** Where it redirects: the target in normalised form. */
    location: target,
    /** For `If-Match`. */
    revision: versionOf(link),
    state: operatorStateOf(link, nowMs),
    disabled_reason: disabled === "deleted" ? null : (disabled ?? null),
    /** The reason of the rule that its target is under. */
    blocked: blocked ?? null,
    /** How it ended, if not because its time was over. */
    ended: terms?.ended ?? null,
    former_host: terms?.formerHost ?? null,
  };
}

export function inspectedJson({ link, visits, bots, history, reported }: LinkDetails, nowMs: number) {
  return {
    ...linkJson(link, nowMs),
    visits,
    bots,
    case: reported === undefined ? null : reportsJson(reported),
    history: history.map(entryJson),
  };
}

export function entryJson(one: DecisionEntry) {
  const { entry, atMs, who, by, action, code, host, reason, note, links, replaced, undoes, undone } = one;
  return {
    id: entry,
    at: isoInstant(atMs),
    who,
    /** The operator's name. */
    by: by ?? null,
    action,
    code: code ?? null,
    host: host ?? null,
    reason: reason ?? null,
    note: note ?? null,
    /** How many links it is about. */
    links: links ?? null,
    /** The states that it replaced, grouped. `value` is the reason or the answer, or null. */
    replaced: replaced.map(replacedJson),
    /** The entry that it undoes, and the one that has undone it. */
    undoes: undoes ?? null,
    undone: undone ?? null,
    undoable: one.isUndoable,
  };
}

function replacedJson(one: Replaced) {
  const { kind, value, count } = one;
  return {
    kind,
    value: value ?? null,
    ...("byReports" in one && { by_reports: one.byReports }),
    ...("became" in one && { became: one.became ?? null }),
    count,
  };
}

export function ruleJson({ host, reason, sinceMs }: HostRule) {
  return { host, reason, since: isoInstant(sinceMs) };
}

export function caseJson(one: InspectedCase, nowMs: number) {
  return {
    code: one.code,
    ...reportsJson(one),
    /** For an answer. */
    revision: one.link === undefined ? goneVersion(one) : versionOf(one.link),
    link: one.link === undefined ? null : linkJson(one.link, nowMs),
  };
}

function reportsJson(one: NotedCase) {
  const { reports, pending, reasons, firstMs, lastMs, disabledMs, answer, notes } = one;
  return {
    state: answer === undefined ? "open" : "answered",
    reports,
    pending,
    reasons,
    first: isoInstant(firstMs),
    last: isoInstant(lastMs),
    /** When the reports disabled the link by themselves. */
    disabled: disabledMs === undefined ? null : isoInstant(disabledMs),
    answer: answer === undefined ? null : { action: answer.action, at: isoInstant(answer.atMs) },
    notes: notes.map(({ atMs, reason, note }) => ({ at: isoInstant(atMs), reason, note })),
  };
}

export function figuresJson(figures: Figures) {
  const { links, disabled, blockedHosts, newestHosts, visitedHosts, days } = figures;
  return {
    links,
    disabled,
    blocked_hosts: blockedHosts,
    /** Where the newest links lead. */
    newest_hosts: hostsJson(newestHosts),
    /** Where the links lead that were visited today. */
    visited_hosts: hostsJson(visitedHosts),
    days: days.map(({ day, counts }) => ({ date: isoDay(day), ...counts })),
  };
}

/** `complete` is false if there are more than so many links. */
function hostsJson({ hosts, links, isAll }: TopHosts) {
  return { hosts, links, complete: isAll };
}
