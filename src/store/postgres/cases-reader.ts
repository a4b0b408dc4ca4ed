import type { Code } from "../../links/code.ts";
import type { Reason } from "../../links/link.ts";
import type { LinkId } from "../../links/store.ts";
import {
  type CaseCursor,
  type CaseQuery,
  type CaseStore,
  type ListedCase,
  MAX_CASE_NOTES,
} from "../../moderation/reports/case.ts";
import { type CaseRow, toCase } from "./case-row.ts";
import type { Database } from "./connection/database.ts";
import { isStorable, textOf } from "./text.ts";

const FIND = "SELECT * FROM cases WHERE code = $1 AND created_ms = $2";
/** There may be some more. */
const NOTES = `
  SELECT noted_ms, reason, note FROM notes WHERE code = $1 AND created_ms = $2
  ORDER BY id DESC LIMIT ${MAX_CASE_NOTES}`;
const LIST = `
  SELECT * FROM cases
  WHERE is_open BETWEEN $1 AND $2 AND (is_open, last_ms, code, created_ms) < ($2, $3, $4, $5)
  ORDER BY is_open DESC, last_ms DESC, code DESC, created_ms DESC LIMIT $6`;

interface NoteRow {
  noted_ms: number;
  reason: Reason;
  note: Uint8Array;
}

/** Where a list goes on: behind the case that this describes. */
interface Place extends LinkId {
  readonly isOpen: boolean;
  readonly lastMs: number;
}

/** Reads reports. */
export function createCasesReader({ run }: Pick<Database, "run">) {
  return {
    async caseOf({ code, createdMs }: LinkId) {
      if (!isStorable(code)) return undefined;
      const [{ rows }, notes] = await Promise.all([
        run<CaseRow>(FIND, [code, createdMs]),
        run<NoteRow>(NOTES, [code, createdMs]),
      ]);
      const [row] = rows;
      return row && { ...toCase(row), notes: notes.rows.map(toNote) };
    },
    async cases({ state, after, limit }: CaseQuery): Promise<ListedCase[]> {
      const place = after === undefined ? startOf(state !== "answered") : placeOf(after);
      if (place === undefined) return [];
      const { isOpen, lastMs, code, createdMs } = place;
      const lastIsOpen = state === "open";
      const { rows } = await run<CaseRow>(LIST, [lastIsOpen, isOpen, lastMs, code, createdMs, limit]);
      return rows.map((row) => ({ ...toCase(row), cursor: cursorOf(row) }));
    },
  } satisfies Partial<CaseStore>;
}

function toNote({ noted_ms, reason, note }: NoteRow) {
  return { atMs: noted_ms, reason, note: textOf(note) };
}

function startOf(isOpen: boolean): Place {
  return { isOpen, lastMs: Number.MAX_SAFE_INTEGER, code: "" as Code, createdMs: 0 };
}

function cursorOf({ is_open, last_ms, created_ms, code }: CaseRow): CaseCursor {
  return [is_open ? "open" : "answered", last_ms, created_ms, code].join(".") as CaseCursor;
}

/** Nothing comes after a cursor that is none of ours. */
function placeOf(cursor: CaseCursor): Place | undefined {
  const [, state, lastMs, createdMs, code] =
    /^(open|answered)\.(\d{1,15})\.(\d{1,15})\.(.+)$/s.exec(cursor) ?? [];
  if (code === undefined || !isStorable(code)) return undefined;
  return {
    isOpen: state === "open",
    lastMs: Number(lastMs),
    createdMs: Number(createdMs),
    code: code as Code,
  };
}
