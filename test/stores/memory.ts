import type { Code } from "../../src/links/code.ts";
import type { NewLink } from "../../src/links/store.ts";
import { close, type Day, merge, type Sums } from "../../src/visits/day.ts";
import { parseRows, type Row } from "../../src/visits/slice.ts";
import type { TestedStore } from "./visits.ts";

/** What one source counted of a link on a day, and in which of its sequences last. */
interface SourceRow {
  readonly sequence: number;
  /** Undefined once it is closed: the sequence stays, so that no slice counts again. */
  readonly row: Row | undefined;
}

function createTables() {
  return {
    links: new Map<Code, NewLink>(),
    /** By link and day, then by source. */
    counted: new Map<string, Map<string, SourceRow>>(),
    /** The days of links that are closed, of all sources together: visitors of several count once. */
    closed: new Map<string, Row>(),
    /** By link. */
    old: new Map<string, Sums>(),
    salts: new Map<number, Uint8Array>(),
  };
}

/**
 * Stores as an engine makes them that spreads its rows over many machines: no transaction spans two links or two days, so
 * each source has rows of its own, with its sequence. It shows that the port asks for no more.
 */
export function createMemoryStores(): () => TestedStore {
  const { links, counted, closed, old, salts } = createTables();

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
    sources.set(source, { sequence, row: mergeAll([known?.row, row].filter((one) => one !== undefined)) });
  }

  function closeDays(before: number, limit: number): number {
    const isOpen = (sources: Map<string, SourceRow>) =>
      [...sources.values()].some(({ row }) => row !== undefined);
    const due = [...counted].filter(([key, sources]) => dayIn(key) < before && isOpen(sources));
    for (const [key, sources] of due.slice(0, limit)) {
      const row = mergeAll(rowsOf(key));
      if (row !== undefined) closed.set(key, { ...row, detail: close(row.detail) });
      for (const [source, known] of sources) sources.set(source, { ...known, row: undefined });
    }
    return Math.min(due.length, limit);
  }

  function forget(before: number, limit: number): number {
    const due = [...closed].filter(([key]) => dayIn(key) < before).slice(0, limit);
    for (const [key, row] of due) {
      if (links.get(row.code)?.createdMs === row.createdMs)
        old.set(linkKey(row), plus(old.get(linkKey(row)), row));
      closed.delete(key);
      counted.delete(key);
    }
    return due.length;
  }

  const store: TestedStore = {
    async insert(all) {
      return all.map((link) => {
        const taken = links.get(link.code);
        if (taken !== undefined && taken.endsMs > link.freeIfEndedByMs) return { kind: "taken" };
        links.set(link.code, link);
        return link;
      });
    },
    async purge(endedByMs, limit) {
      const ended = [...links.values()].filter(({ endsMs }) => endsMs <= endedByMs).slice(0, limit);
      for (const link of ended) {
        links.delete(link.code);
        old.delete(linkKey(link));
      }
      return ended.length;
    },
    async add({ source, sequence, rows }) {
      for (const row of parseRows(rows)) {
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

function mergeAll(rows: readonly Row[]): Row | undefined {
  const [first, ...others] = rows;
  return first && { ...first, ...others.reduce<Day>(merge, first) };
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
