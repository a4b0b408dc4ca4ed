// The reading half of the reports, on the reader's connection.
import type { Database } from "bun:sqlite";

import type { LinkId } from "../../links/store.ts";
import type { CaseCursor, CaseQuery, CaseState, ListedCase, Note } from "../../moderation/reports/case.ts";
import { type CaseRow, toCase } from "./case-row.ts";

const FIND = "SELECT * FROM cases WHERE code = ?1 AND created_ms = ?2";
const NOTES = "SELECT noted_ms AS atMs, reason, note FROM notes WHERE case_id = ?1 ORDER BY id DESC";
const LIST = `
  SELECT * FROM cases WHERE is_open = ?1 AND (last_ms, id) < (?2, ?3)
  ORDER BY last_ms DESC, id DESC LIMIT ?4`;

/** Where a list goes on: behind the case with this `last_ms` and `id`. */
interface Place {
  readonly isOpen: boolean;
  readonly lastMs: number;
  readonly id: number;
}

export function prepareCasesReader(database: Database) {
  const find = database.prepare<CaseRow, [string, number]>(FIND);
  const notes = database.prepare<Note, [number]>(NOTES);
  const list = database.prepare<CaseRow, [number, number, number, number]>(LIST);

  function listFrom({ isOpen, lastMs, id }: Place, limit: number): ListedCase[] {
    return list.all(isOpen ? 1 : 0, lastMs, id, limit).map((row) => ({
      ...toCase(row),
      cursor: [isOpen ? "open" : "answered", row.last_ms, row.id].join(".") as CaseCursor,
    }));
  }

  return {
    caseOf({ code, createdMs }: LinkId) {
      const row = find.get(code, createdMs);
      return row === null ? undefined : { ...toCase(row), notes: notes.all(row.id) };
    },
    cases({ state, after, limit }: CaseQuery): ListedCase[] {
      const place = after === undefined ? startOf(state ?? "open") : placeOf(after);
      const found = listFrom(place, limit);
      if (state !== undefined || !place.isOpen || found.length === limit) return found;
      return [...found, ...listFrom(startOf("answered"), limit - found.length)];
    },
    close() {
      for (const statement of [find, notes, list]) statement.finalize();
    },
  };
}

function startOf(state: CaseState): Place {
  return { isOpen: state === "open", lastMs: Number.MAX_SAFE_INTEGER, id: Number.MAX_SAFE_INTEGER };
}

/** Nothing comes after a cursor that is none of ours. */
function placeOf(cursor: CaseCursor): Place {
  const [state, lastMs, id] = cursor.split(".");
  return { isOpen: state === "open", lastMs: Number(lastMs ?? Number.NaN), id: Number(id ?? Number.NaN) };
}
