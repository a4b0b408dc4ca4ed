import type { Position } from "../../src/links/change-feed.ts";
import { applyChange, isSilent } from "../../src/links/change.ts";
import { type Code, lookUpCode } from "../../src/links/code.ts";
import type { Link, Reason } from "../../src/links/link.ts";
import type { Decision, LinkId, NewLink } from "../../src/links/store.ts";
import { targetHost } from "../../src/links/target.ts";
import { DAY_MS } from "../../src/links/time.ts";
import { FIGURE_DAYS, topHosts } from "../../src/moderation/figures.ts";
import { isTargetWithin, type LinkCursor, type LinkQuery } from "../../src/moderation/search.ts";
import type { Action, HostRule, JournalCursor, JournalEntry } from "../../src/moderation/store.ts";
import { closeDetail, type Day, mergeDays, type Sums } from "../../src/visits/day.ts";
import { decodeRows, type Row } from "../../src/visits/visit-rows.ts";
import type { TestedStore as TestedGuard } from "./guard.ts";
import { createMemoryCases } from "./memory-cases.ts";
import type { TestedStore as TestedVisits } from "./visits.ts";

type TestedStore = TestedGuard & TestedVisits;

/** What one source counted of a link on a day, and in which of its sequences last. */
interface SourceRow {
  readonly sequence: number;
  /** Undefined once it is closed: the sequence stays, so that no slice counts again. */
  readonly row: Row | undefined;
}

function createTables() {
  return {
    /** In the order in which they were made. */
    links: new Map<Code, NewLink>(),
    /** By link, in the same order. */
    numbers: new Map<string, number>(),
    /** By link and day, then by source. */
    counted: new Map<string, Map<string, SourceRow>>(),
    /** The days of links that are closed, of all sources together: visitors of several count once. */
    closed: new Map<string, Row>(),
    /** By link. */
    old: new Map<string, Sums>(),
    salts: new Map<number, Uint8Array>(),
    hosts: new Map<string, HostRule>(),
    /** By day and name. */
    counters: new Map<number, Record<string, number>>(),
    journal: [] as JournalEntry[],
    /** Undefined stands for the rules about hosts. */
    changes: [] as (Code | undefined)[],
  };
}

/**
 * Stores as an engine makes them that spreads its rows over many machines: no transaction spans two links or two days, so
 * each source has rows of its own, with its sequence. It shows that the port asks for no more.
 */
export function createMemoryStores(): () => TestedStore {
  const { links, numbers, counted, closed, old, salts, hosts, counters, journal, changes } = createTables();

  let inserts = 0;

  function addCount(day: number, name: string, count: number): void {
    if (count === 0) return;
    const counts = counters.get(day) ?? {};
    counters.set(day, { ...counts, [name]: (counts[name] ?? 0) + count });
  }

  function rowsOf(key: string): Row[] {
    const rows = [...(counted.get(key)?.values() ?? [])].map(({ row }) => row);
    return [closed.get(key), ...rows].filter((row) => row !== undefined);
  }

  function daysOf(code: Code, createdMs: number): Row[] {
    const keys = new Set([...counted.keys(), ...closed.keys()]);
    const all = [...keys].flatMap((key) => mergeAll(rowsOf(key)) ?? []);
    return all.filter((row) => row.code === code && row.createdMs === createdMs);
  }

  function addRow(source: string, sequence: number, row: Row): void {
    const sources = counted.get(dayKey(row)) ?? new Map<string, SourceRow>();
    counted.set(dayKey(row), sources);
    const known = sources.get(source);
    if (known !== undefined && known.sequence >= sequence) return;
    addCount(row.day, "visits", row.visits);
    addCount(row.day, "bots", row.bots);
    const isErased = look(row)?.disabled === "deleted";
    const rows = isErased ? [] : [known?.row, row].filter((one) => one !== undefined);
    sources.set(source, { sequence, row: mergeAll(rows) });
  }

  /** The sequences stay, so that nothing that was sent before counts again. */
  function empty(key: string): void {
    const sources = counted.get(key) ?? new Map<string, SourceRow>();
    for (const [source, known] of sources) sources.set(source, { ...known, row: undefined });
  }

  function closeDays(before: number, limit: number): number {
    const isOpen = (sources: Map<string, SourceRow>) =>
      [...sources.values()].some(({ row }) => row !== undefined);
    const due = [...counted].filter(([key, sources]) => dayIn(key) < before && isOpen(sources));
    for (const [key] of due.slice(0, limit)) {
      const row = mergeAll(rowsOf(key));
      if (row !== undefined) closed.set(key, { ...row, detail: closeDetail(row.detail) });
      empty(key);
    }
    return Math.min(due.length, limit);
  }

  function forget(before: number, limit: number): number {
    const due = [...closed].filter(([key]) => dayIn(key) < before).slice(0, limit);
    for (const [key, row] of due) {
      if (links.get(row.code)?.createdMs === row.createdMs)
        old.set(linkKey(row), plus(old.get(linkKey(row)), row));
      closed.delete(key);
    }
    return due.length;
  }

  function note(
    action: Action,
    { who, atMs, note: text, reason }: Decision & { readonly reason?: Reason },
    subject: LinkId | { readonly host: string },
  ): void {
    const cursor = String(journal.length) as JournalCursor;
    const words = { ...(reason && { reason }), ...(text !== undefined && { note: text }) };
    journal.push({ cursor, action, who, atMs, ...words, ...subject });
  }

  /** Sets the state of links for which `isChanged`, and says which. */
  function setState(
    action: Action,
    ids: readonly LinkId[],
    decision: Decision & { readonly reason?: Reason },
    isChanged: (link: NewLink) => boolean,
    change: Partial<NewLink>,
  ): LinkId[] {
    return ids
      .map(({ code, createdMs }) => ({ code, createdMs }))
      .filter(({ code, createdMs }) => {
        const link = links.get(code);
        if (link?.createdMs !== createdMs || !isChanged(link)) return false;
        links.set(code, { ...link, ...change });
        changes.push(code);
        note(action, decision, { code, createdMs });
        return true;
      });
  }

  const look = ({ code, createdMs }: LinkId) => {
    const link = links.get(code);
    return link?.createdMs === createdMs ? link : undefined;
  };
  const cases = createMemoryCases(() => ({ ...store, look }), note);

  const closeGone = (link: NewLink) => cases.answer(link, "erase", { who: "api", atMs: link.endsMs });

  const store: TestedStore = {
    ...cases,
    async insert(all) {
      return all.map((link) => {
        const taken = links.get(link.code);
        if (taken?.disabled !== undefined || (taken && taken.endsMs > link.freeIfEndedByMs))
          return { kind: "taken" };
        // Also a code that is given anew comes last.
        links.delete(link.code);
        if (taken !== undefined) closeGone(taken);
        links.set(link.code, link);
        numbers.set(linkKey(link), inserts++);
        return link;
      });
    },
    async purge(endedByMs, limit) {
      const ended = [...links.values()]
        .filter(({ endsMs, disabled }) => endsMs <= endedByMs && disabled === undefined)
        .slice(0, limit);
      for (const link of ended) {
        links.delete(link.code);
        closeGone(link);
        old.delete(linkKey(link));
      }
      return ended.length;
    },
    async find(code) {
      const found = links.get(code);
      if (found === undefined) return undefined;
      return toLink(found);
    },
    async update(id, change) {
      const link = look(id);
      const after = link && applyChange(link, change);
      if (link === undefined || after === undefined) return { link: link && toLink(link), isChanged: false };
      links.set(id.code, { ...link, ...after });
      if (!isSilent(change)) changes.push(id.code);
      return { link: toLink({ ...link, ...after }), isChanged: true };
    },
    async disable(ids, decision) {
      const { reason } = decision;
      const isChanged = ({ disabled }: NewLink) => disabled !== reason && disabled !== "deleted";
      const changed = setState("disable", ids, decision, isChanged, { disabled: reason });
      for (const link of changed) cases.answer(link, "disable", decision);
      return changed;
    },
    async enable(ids, decision) {
      const isChanged = ({ disabled }: NewLink) => disabled !== undefined && disabled !== "deleted";
      return setState("enable", ids, decision, isChanged, { disabled: undefined });
    },
    async erase({ code, createdMs }, decision) {
      const isChanged = ({ disabled }: NewLink) => disabled !== "deleted";
      const gone = { originalUrl: "", target: "" as never, disabled: "deleted", terms: undefined } as const;
      const erased = setState("erase", [{ code, createdMs }], decision, isChanged, gone).length === 1;
      if (!erased) return false;
      cases.answer({ code, createdMs }, "erase", decision);
      old.delete(linkKey({ code, createdMs }));
      const keys = [...counted.keys()].filter((key) => key.endsWith(` ${linkKey({ code, createdMs })}`));
      for (const key of keys) {
        closed.delete(key);
        empty(key);
      }
      return true;
    },
    async changes(since) {
      const position = String(changes.length) as Position;
      const told = changes.slice(since === undefined ? changes.length : Number(since));
      const codes = told.filter((code) => code !== undefined);
      return { position, codes, rules: codes.length < told.length, hasMore: false, isComplete: true };
    },
    async hosts(after, limit) {
      const rules = [...hosts.values()].filter(({ host }) => host > after);
      return rules.toSorted((a, b) => (a.host < b.host ? -1 : 1)).slice(0, limit);
    },
    async blockHost({ host, reason }, decision) {
      if (hosts.get(host)?.reason === reason) return false;
      hosts.set(host, { host, reason, sinceMs: decision.atMs });
      changes.push(undefined);
      note("block-host", { ...decision, reason }, { host });
      return true;
    },
    async unblockHost(host, decision) {
      if (!hosts.delete(host)) return false;
      changes.push(undefined);
      note("unblock-host", decision, { host });
      return true;
    },
    async journal({ limit, before, code, host }) {
      const wanted = journal.slice(0, before === undefined ? journal.length : Number(before));
      const matching = wanted.filter(
        (entry) => (code === undefined || entry.code === code) && (host === undefined || entry.host === host),
      );
      return matching.toReversed().slice(0, limit);
    },
    async search(query, { cursor, limit }) {
      const numberOf = (link: NewLink) => numbers.get(linkKey(link)) ?? 0;
      const rest = [...links.values()]
        .filter((link) => isFound(link, query))
        .toSorted((a, b) => numberOf(b) - numberOf(a))
        .filter((link) => numberOf(link) < Number(cursor ?? Number.POSITIVE_INFINITY));
      const page = rest.slice(0, limit);
      const last = page.length < rest.length ? page.at(-1) : undefined;
      return {
        links: page.map(toLink),
        cursor: last && (String(numberOf(last)) as LinkCursor),
        searched: last === undefined ? 1 : 0,
      };
    },
    async count(day, counts) {
      for (const [name, count] of Object.entries(counts)) addCount(day, name, count);
    },
    async figures(nowMs) {
      const today = Math.floor(nowMs / DAY_MS);
      const all = [...links.values()].toReversed();
      const visited = [...counted.keys()].filter((key) => dayIn(key) === today).flatMap(rowsOf);
      const hostOf = (code: Code) => targetHost(links.get(code)?.target ?? ("" as never));
      return {
        links: all.length,
        disabled: all.filter(({ disabled }) => disabled !== undefined).length,
        blockedHosts: hosts.size,
        newestHosts: topHosts(all.map(({ code }) => ({ host: hostOf(code), count: 1 }))),
        visitedHosts: topHosts(visited.map(({ code, visits }) => ({ host: hostOf(code), count: visits }))),
        days: [...counters]
          .filter(([day]) => day > today - FIGURE_DAYS)
          .toSorted(([a], [b]) => a - b)
          .map(([day, counts]) => ({ day, counts })),
      };
    },
    async add({ source, sequence, rows }) {
      for (const row of decodeRows(rows)) {
        addRow(source, sequence, row);
        // Others have their turn between any two rows.
        await Promise.resolve();
      }
      return 0;
    },
    async sums(code, createdMs) {
      return daysOf(code, createdMs).reduce(plus, plus(old.get(linkKey({ code, createdMs }))));
    },
    async days(code, createdMs, firstDay, lastDay) {
      return daysOf(code, createdMs)
        .filter(({ day }) => day >= firstDay && day <= lastDay)
        .toSorted((a, b) => a.day - b.day);
    },
    async daySums(...asked) {
      return (await store.days(...asked)).map(({ day, visits, bots }) => ({ day, visits, bots }));
    },
    async age({ closeBefore, forgetBefore }, limit) {
      for (const day of salts.keys()) if (day < closeBefore) salts.delete(day);
      return Math.max(closeDays(closeBefore, limit), forget(forgetBefore, limit));
    },
    async newestSaltDay() {
      return salts.size === 0 ? Number.POSITIVE_INFINITY : Math.max(...salts.keys());
    },
    async salt(day, oldest) {
      for (const known of salts.keys()) if (known < oldest) salts.delete(known);
      const salt = salts.get(day) ?? crypto.getRandomValues(new Uint8Array(32));
      salts.set(day, salt);
      return salt;
    },
    async close() {},
  };
  return () => ({ ...store });
}

function toLink(newLink: NewLink): Link {
  const { freeIfEndedByMs: _, ...link } = newLink;
  return link;
}

function isFound({ code, originalUrl, target }: NewLink, { text, host }: LinkQuery): boolean {
  const beginning = text && lookUpCode(text);
  const urls = `${originalUrl}\n${target}`.toLowerCase();
  return (
    (text === undefined ||
      (beginning !== undefined && code.startsWith(beginning)) ||
      urls.includes(text.toLowerCase())) &&
    (host === undefined || isTargetWithin(target, host))
  );
}

function mergeAll(rows: readonly Row[]): Row | undefined {
  const [first, ...others] = rows;
  return first && { ...first, ...others.reduce<Day>(mergeDays, first) };
}

function linkKey({ code, createdMs }: Pick<Row, "code" | "createdMs">): string {
  return `${createdMs} ${code}`;
}

function dayKey(row: Row): string {
  return `${row.day} ${linkKey(row)}`;
}

function dayIn(key: string): number {
  return Number.parseInt(key, 10);
}

function plus(one: Sums = { visits: 0, bots: 0 }, other: Sums = { visits: 0, bots: 0 }): Sums {
  return { visits: one.visits + other.visits, bots: one.bots + other.bots };
}
