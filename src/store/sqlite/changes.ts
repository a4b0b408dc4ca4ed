// Changes of links and hosts, which the memories of all processes follow.

import type { LinkKey } from "../../links/code.ts";
import type { Changes, Position } from "../../links/link-store.ts";
import { RULES } from "../shared/decisions.ts";
import type { FileDatabase } from "./file/file-database.ts";

/** Older changes are deleted. A reader that missed one forgets everything it remembers. */
const MAX_CHANGES = 100_000;
/** Changes in one response. */
const MAX_READ = 1000;

const ADD = "INSERT INTO changes (code) VALUES (?1) RETURNING revision";
/** The operator's decisions add changes without it. */
const FORGET = `
  DELETE FROM changes WHERE revision IN (SELECT revision FROM changes WHERE revision <= ?1 ORDER BY revision LIMIT 100)`;
const NEWEST = "SELECT coalesce(max(revision), 0) AS revision FROM changes";
const OLDEST = "SELECT coalesce(min(revision), 1) AS revision FROM changes";
const SINCE = "SELECT revision, code FROM changes WHERE revision > ?1 ORDER BY revision LIMIT ?2";

interface ChangeRow {
  revision: number;
  code: string;
}

/** Records a change. Call it in the transaction that makes the change. */
export function createChangesWriter(database: FileDatabase) {
  const add = database.statement<Pick<ChangeRow, "revision">, [string]>(ADD);
  const forget = database.statement<unknown, [number]>(FORGET);
  return (code: string): void => {
    const revision = add.get(code)?.revision ?? 0;
    forget.run(revision - MAX_CHANGES);
  };
}

export function createChangesReader(database: FileDatabase) {
  const newestChange = database.statement<Pick<ChangeRow, "revision">, []>(NEWEST);
  const oldestChange = database.statement<Pick<ChangeRow, "revision">, []>(OLDEST);
  const changesAfter = database.statement<ChangeRow, [number, number]>(SINCE);

  return (position: Position | undefined): Changes => {
    const newest = newestChange.get()?.revision ?? 0;
    const since = position === undefined ? newest : Number(position);
    if (since >= newest) return { ...NO_CHANGES, position: positionAt(newest) };
    if (since < (oldestChange.get()?.revision ?? 1) - 1)
      return { ...NO_CHANGES, position: positionAt(newest), isComplete: false };
    const rows = changesAfter.all(since, MAX_READ);
    const keys = rows.map(({ code }) => code as LinkKey).filter((code) => code !== RULES);
    const last = rows.at(-1)?.revision ?? newest;
    return {
      position: positionAt(last),
      keys,
      rules: keys.length < rows.length,
      hasMore: last < newest,
      isComplete: true,
    };
  };
}

const NO_CHANGES = { keys: [], rules: false, hasMore: false, isComplete: true };

function positionAt(revision: number): Position {
  return String(revision) as Position;
}
