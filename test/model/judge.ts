/**
 * Compares the service with the model: whether a state explains an answer, and what the service must show once everything is
 * settled.
 */
import type { Answer, CaseView, Command, Entry, HostView, Settled } from "./commands.ts";
import {
  type Link,
  type State,
  byKey,
  casesOf,
  hidesTitle,
  isFree,
  keyOf,
  perform,
  rulesOf,
  viewOf,
} from "./model.ts";
import { at, isMoment, type Moment, Run, type Said } from "./run.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

function waysOf(
  state: State,
  command: Command,
  now: Moment,
  answer?: Answer,
): { readonly said: Said; readonly next: State }[] {
  const ways: { said: Said; next: State }[] = [];
  for (const paths: number[][] = [[]]; paths.length > 0;) {
    const run = new Run(state, command, now, paths.pop() ?? []);
    const said = {
      ...run.attempt(() => perform(run, command, answer)),
      ...(hidesTitle(command) && { hasTitle: false }),
    };
    ways.push({ said, next: run.state });
    paths.push(...run.others);
  }
  return ways;
}

/** Whether an answer agrees with the model's. Values that one of them leaves out aren't compared. */
function agrees(shown: unknown, right: unknown): boolean {
  if (shown === undefined || right === undefined || Object.is(shown, right)) return true;
  // An answer gives all reasons that apply.
  if (typeof shown === "string" && typeof right === "string") return shown.split(", ").includes(right);
  if (isMoment(right)) return typeof shown === "number" && shown >= right.earliest && shown <= right.latest;
  if (typeof shown !== "object" || typeof right !== "object" || shown === null || right === null)
    return false;
  if (Array.isArray(right) && (shown as unknown[]).length !== right.length) return false;
  return Object.entries(right).every(([name, value]) =>
    agrees((shown as Record<string, unknown>)[name], value),
  );
}

/** Codes that had two lives, or whose link may be purged. */
function unclearIn(state: State, now: Moment): Set<string> {
  const run = new Run(state, { kind: "restart", id: -1, door: "", client: "" }, now, []);
  return new Set([...state.reused, ...[...state.links.keys()].filter((key) => isFree(run, key))]);
}

/** Without rows about links and hosts of others, or about links whose code no answer has shown, and in an order that both have. */
function comparable<T extends object>(
  state: State,
  rows: readonly T[] | undefined,
  isOrdered = false,
): readonly T[] | undefined {
  const subject = (row: object) =>
    String(
      Object.entries(row).find(
        ([name, value]) => (name === "key" || name === "host") && value !== undefined,
      )?.[1] ?? "",
    );
  const hosts = new Set(state.decisions.flatMap(({ replaced }) => replaced.map(({ on }) => on)));
  const isKnown = (name: string) => (state.links.has(name) && !name.startsWith("?")) || hosts.has(name);
  const known = rows?.filter((row) => isKnown(subject(row)));
  return isOrdered ? known : known?.toSorted((one, other) => (subject(one) < subject(other) ? -1 : 1));
}
const answered = (
  state: State,
  now: Moment,
  { cases, hosts, journal, found, ...rest }: Answer | Said,
): object => ({
  ...rest,
  cases: cases && withoutUnclear(state, now, cases as readonly CaseView[]),
  hosts: comparable(state, hosts as readonly HostView[] | undefined),
  journal: comparable(state, journal as readonly Entry[] | undefined, true),
  found: (found as readonly string[] | undefined)?.length,
});

function withoutUnclear(state: State, now: Moment, cases: readonly CaseView[]) {
  const unclear = unclearIn(state, now);
  return comparable(
    state,
    cases.filter(({ key }) => !unclear.has(key)),
  );
}

function explain(state: State, command: Command, answer: Answer | undefined, now: Moment): State[] {
  const ways = waysOf(state, command, now, answer);
  if (answer === undefined)
    return [state, ...ways.filter(({ said }) => said.status < 400).map(({ next }) => next)];
  const right = ways.filter(({ said, next }) =>
    agrees(answered(next, now, answer), answered(next, now, said)),
  );
  return right.map(({ next }) => learn(next, command, answer));
}

/** An answer shows times to the millisecond, and the version that a later `If-Match` names. */
function learn(state: State, { id }: Command, answer: Answer): State {
  for (const { link: view } of answer.results ?? [answer]) {
    const link = view && state.links.get(keyOf(state.settings, view.key));
    if (!link) continue;
    // A replay shows the link as it was created.
    const pin = (ms: number | null | undefined, moment: Moment | undefined) =>
      typeof ms === "number" && moment && agrees(ms, moment) ? at(ms) : moment;
    link.created = pin(view.createdMs, link.created) ?? link.created;
    link.changed = pin(view.changedMs, link.changed);
    link.starts = pin(view.startsMs, link.starts);
    if (link.ended) link.ended.at = pin(view.endsMs, link.ended.at) ?? link.ended.at;
    else link.ends = pin(view.endsMs, link.ends);
  }
  if (answer.status < 300) state.seen.set(id, state.links);
  return state;
}

/** Answers that processes keep for a second: redirects that need no check, and views that are the same for everybody. */
function keeps(
  { settings }: State,
  command: Command,
  { maxVisits, password, forwardQuery, forwardPath }: Link,
): boolean {
  if (command.kind === "visit")
    return maxVisits === undefined && password === undefined && !forwardQuery && !forwardPath;
  return (
    command.kind === "preview" ||
    ((command.kind === "read" || command.kind === "stats") &&
      command.key === undefined &&
      (command.person === undefined || settings.editors === undefined))
  );
}

/** As before a change of the last second: rules, and a link in a kept answer. A maker's own change shows at once. */
function explainLate(
  state: State,
  old: State["recent"][number],
  command: Command,
  answer: Answer | undefined,
  now: Moment,
): State[] {
  const link = "code" in command ? state.links.get(keyOf(state.settings, command.code)) : undefined;
  const former = link && old.links.get(link.key);
  const isKept =
    former &&
    keeps(state, command, former) &&
    (state.settings.processes > 1 || (former.target === link.target && former.ended === link.ended));
  const links = isKept ? new Map(state.links).set(former.key, former) : state.links;
  const found = explain({ ...state, hosts: old.hosts, links }, command, answer, now);
  return found.map((next) => ({ ...next, hosts: state.hosts, links: isKept ? state.links : next.links }));
}

/**
 * All states that explain the answer. Empty: the service is wrong. Without an answer (it never arrived), both that the
 * command ran and that it didn't. `from`..`to` (Unix ms): when the service handled it.
 */
export function play(
  state: State,
  command: Command,
  answer: Answer | undefined,
  from: number,
  to: number,
): readonly State[] {
  const now = { earliest: from, latest: to };
  const recent = state.recent.filter(({ untilMs }) => untilMs + 1000 >= from);
  let right = explain(state, command, answer, now);
  // Another process may not know the newest rules yet. Their effect shows neither in an answer to a report, nor if no answer
  // arrives.
  const isHidden = (command.kind === "report" || answer === undefined) && state.settings.processes > 1;
  if (right.length === 0 || isHidden)
    right = [...right, ...recent.flatMap((old) => explainLate(state, old, command, answer, now))];
  const { links, hosts } = state;
  const isView = /^(read|preview|stats|available|view|search|restart)/.test(command.kind);
  return right.map((next) => ({
    ...next,
    recent: isView ? recent : [...recent, { links, hosts, untilMs: to }],
  }));
}

/** The answers that the model would have accepted, in words. */
export function expected(state: State, command: Command, from: number, to: number = from): string {
  const now = { earliest: from, latest: to };
  const ways = waysOf(state, command, now);
  return [...new Set(ways.map(({ said, next }) => JSON.stringify(answered(next, now, said))))].join(", or ");
}

// -------------------------------------------------------------------------------------------------------- settled

function daysOf({ visits, imported }: State, link: Link) {
  const hours = [...(visits.get(link.id) ?? [])];
  const days = imported.get(link.id) ?? new Map<number | null, number>();
  const dayOf = (hour: number) => hour - (hour % DAY_MS);
  return [...new Set([...hours.map(([hour]) => dayOf(hour)), ...days.keys()])]
    .toSorted((one, other) => (one ?? -1) - (other ?? -1))
    .map((dayMs) => {
      const rows = hours.filter(([hour]) => dayOf(hour) === dayMs).toSorted(([one], [other]) => one - other);
      return {
        key: link.key,
        createdMs: link.created,
        dayMs,
        people: rows.reduce((sum, [, { people }]) => sum + people, days.get(dayMs) ?? 0),
        bots: rows.reduce((sum, [, { bots }]) => sum + bots, 0),
        hours: days.has(dayMs)
          ? undefined
          : rows.map(([hour, { people, bots }]) => [(hour % DAY_MS) / HOUR_MS, people, bots] as const),
      };
    });
}

/** `null` for never, `undefined` if the answers so far don't show it. */
function exact(moment: Moment | null | undefined): number | null | undefined {
  return moment ? (moment.earliest === moment.latest ? moment.latest : undefined) : null;
}

/** The state that the service must show exactly once everything is settled. Codes that had two lives, or may be purged, are left out. */
export function settled(state: State, nowMs: number): Settled {
  const run = new Run(state, { kind: "restart", id: -1, door: "", client: "" }, at(nowMs), []);
  const { settings, links, journal, events } = run.state;
  const left = unclearIn(state, at(nowMs));
  const kept = [...links.values()].filter(({ key }) => !left.has(key)).toSorted(byKey);
  const hasExpired = (link: Link) => settings.events && !link.ended && run.passed(link.ends);
  const disabled = new Set(
    events.flatMap(({ type, subject }) => (type === "link.disabled" ? [subject] : [])),
  );
  const expiries = kept.filter(hasExpired).map((link) => ({
    type: "link.expired",
    subject: link.key,
    // The documents don't say whether a link that is disabled at its end expires.
    maybe: link.imported === true || disabled.has(link.key),
  }));
  return {
    links: kept.map((link) => {
      const { createdMs, endsMs, startsMs, changedMs, ...view } = viewOf(run, link, "operator");
      const times = {
        createdMs: exact(createdMs) ?? undefined,
        endsMs: exact(endsMs),
        startsMs: exact(startsMs),
        changedMs: exact(changedMs),
      };
      return { ...view, ...times };
    }),
    days: kept.flatMap((link) =>
      daysOf(run.state, link).map((day) => ({ ...day, createdMs: exact(day.createdMs) ?? undefined })),
    ),
    cases: casesOf(run.state).filter(({ key }) => !left.has(key)),
    hosts: rulesOf(run.state).filter(({ host }) => !left.has(host)),
    journal: journal.filter(
      ({ key, host }) => (key ?? host) !== undefined && ![key, host].some((one) => left.has(one ?? "")),
    ),
    events: [...events, ...expiries].filter(({ subject }) => !left.has(subject)),
    linkCount: undefined,
    left,
  };
}
