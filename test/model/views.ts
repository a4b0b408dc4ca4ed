// The fields of the API and of an export, which mostly have the same names, in the model's words.
import type { CaseView, Day, Entry, Event, LinkView, Settled } from "./commands.ts";

/** The links and hosts of a sequence. */
export interface Scope {
  readonly codes: ReadonlySet<string>;
  readonly hosts: ReadonlySet<string>;
  /** Only its destinations contain this: recognizes links whose generated code no answer has shown. */
  readonly mark?: string;
}

const instant = (text: string | null | undefined) => (typeof text === "string" ? Date.parse(text) : null);

/** `isWhole`: as the operator and exports have it, whose states differ from the API's. */
export function linkOf(link: any, isWhole = false): LinkView {
  return {
    key: link.code,
    target: link.target,
    createdMs: Date.parse(link.created_at),
    endsMs: instant(link.expires_at),
    startsMs: instant(link.starts_at),
    maxVisits: link.max_visits ?? null,
    visitsUsed: link.visits_used ?? (isWhole && typeof link.max_visits === "number" ? 0 : null),
    hasPassword: link.has_password ?? link.password_hash !== undefined,
    forwardQuery: link.forward_query ?? false,
    forwardPath: link.forward_path ?? false,
    title: link.title ?? (isWhole ? null : undefined),
    written: link.code_written ?? link.code,
    state: isWhole ? undefined : link.state,
    disabledReason: link.state === "deleted" ? "deleted" : (link.disabled_reason ?? null),
    changedMs: instant(link.changed_at),
    by: link.created_by ?? (isWhole ? null : undefined),
    owner: link.owner ?? (isWhole ? null : undefined),
  };
}

export const caseOf = (one: any): CaseView => ({
  key: one.code,
  open: (one.answer ?? null) === null,
  reports: one.reports,
  pending: one.pending,
  reasons: one.reasons,
  answer: one.answer?.action ?? null,
  disabledByReports: (one.disabled ?? one.disabled_at ?? null) !== null,
});

export const entryOf = ({ who, by, action, code, host, reason }: any): Entry => ({
  who: who === "reports" || who === "person" ? who : "operator",
  by: by ?? undefined,
  action,
  key: code ?? undefined,
  host: host ?? undefined,
  reason: reason ?? undefined,
});

function dayOf({ code, created_at, day, visits, bots, hours: counts = {} }: any): Day {
  const hours = Object.entries<[number, number]>(counts).map(
    ([hour, [people, others]]) => [Number(hour), people, others] as const,
  );
  const counted = hours.reduce((sum, [, people, others]) => sum + people + others, 0);
  return {
    key: code,
    createdMs: Date.parse(created_at),
    dayMs: instant(day),
    people: visits,
    bots,
    hours: counted === visits + bots ? hours : undefined,
  };
}

const compare = (one: string, other: string) => (one === other ? 0 : one < other ? -1 : 1);

/** The lines of an export about the scope, by kind, sorted by link. */
export function linesIn(lines: readonly any[], { codes: known, hosts, mark = "\0" }: Scope) {
  const marked = lines.filter(({ kind, target }) => kind === "link" && target.includes(mark));
  const codes = new Set<string>([...known, ...marked.map(({ code }) => code)]);
  const of = (kind: string) => lines.filter((line) => line.kind === kind);
  const ofLinks = (kind: string): readonly any[] =>
    of(kind)
      .filter(({ code }) => codes.has(code))
      .toSorted((a, b) => compare(a.code, b.code) || compare(a.created_at, b.created_at));
  return {
    codes,
    links: ofLinks("link"),
    days: ofLinks("day"),
    cases: ofLinks("case"),
    hosts: of("host")
      .filter(({ host }) => hosts.has(host))
      .toSorted((a, b) => compare(a.host, b.host)),
    entries: of("entry").filter(({ code, host }) => codes.has(code) || hosts.has(host)),
    /** The entries about a link of the scope, also among others, but not about a former one of its code. */
    historyOf({ code, created_at: createdAt }: any): readonly any[] {
      const isIts = (line: any) => (line.code ?? line.name) === code && line.created_at === createdAt;
      const ids = new Set(
        of("replaced").flatMap((line) => (isIts(line) ? [line.entry, line.undone_by] : [])),
      );
      return of("entry").filter((line) => isIts(line) || ids.has(line.id));
    },
    all: { links: of("link").length, hosts: of("host") },
  };
}

/** The state that an export and the received events show. */
export function seenIn(
  { codes, links, days, cases, hosts: rules, entries }: ReturnType<typeof linesIn>,
  received: readonly Event[],
  hosts: Scope["hosts"],
): Settled {
  return {
    links: links.map((link) => linkOf(link, true)),
    days: days.map(dayOf),
    cases: cases.map(caseOf),
    hosts: rules.map(({ host, reason }) => ({ host, reason })),
    journal: entries.map(entryOf).toReversed(),
    events: received
      .filter(({ subject }) => codes.has(subject) || hosts.has(subject))
      .toSorted((a, b) => compare(a.subject, b.subject)),
    linkCount: undefined,
    left: new Set(),
  };
}

/** Where the operator's API, read by `operate`, contradicts an export. */
export async function disagreementsOf(
  { codes, links, days, cases, historyOf, all }: ReturnType<typeof linesIn>,
  operate: (path: string) => Promise<any>,
): Promise<string[]> {
  const found: string[] = [];
  function check(what: string, view: unknown, record: unknown): void {
    if (!Bun.deepEquals(view, record))
      found.push(`${what}: the API shows ${JSON.stringify(view)}, the export ${JSON.stringify(record)}`);
  }
  async function readAll(list: "hosts" | "cases"): Promise<any[]> {
    const items: any[] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const page: any = await operate(`${list}?limit=200&cursor=${encodeURIComponent(cursor)}`);
      items.push(...page[list]);
      cursor = page.cursor;
    }
    return items;
  }
  for (const code of codes) {
    const link = links.findLast((one) => one.code === code);
    const isOfLink = (one: any) => one.code === code && one.created_at === link?.created_at;
    const view = await operate(`links/${encodeURIComponent(code)}`);
    check(`link ${code}`, view && { ...linkOf(view, true), key: code }, link && linkOf(link, true));
    if (view === undefined || link === undefined) continue;
    const { visits, bots, history, case: reported } = view;
    const sum = (field: string) => days.filter(isOfLink).reduce((total, day) => total + day[field], 0);
    check(`visits of ${code}`, { visits, bots }, { visits: sum("visits"), bots: sum("bots") });
    check(
      `case of ${code}`,
      reported ? [caseOf({ ...reported, code })] : [],
      cases.filter(isOfLink).map(caseOf),
    );
    const actionsOf = (list: readonly any[]) =>
      list.map(({ at, action, by, reason }) => [at, action, by ?? null, reason ?? null]);
    check(`history of ${code}`, actionsOf(history), actionsOf(historyOf(link)).toReversed());
  }
  const hostsOf = (rules: readonly any[]) => rules.map(({ host, reason }) => `${host} ${reason}`).toSorted();
  check("hosts", hostsOf(await readAll("hosts")), hostsOf(all.hosts));
  const openOf = (list: readonly any[]) =>
    list.flatMap((one) => (codes.has(one.code) && caseOf(one).open ? [one.code as string] : []));
  check("open cases", openOf(await readAll("cases")).toSorted(compare), openOf(cases).toSorted(compare));
  return found;
}
