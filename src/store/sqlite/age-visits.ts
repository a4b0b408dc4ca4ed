// Closes days and sums old ones up, some rows at a time. The caller has a transaction.
import { closeDetail } from "../../visits/days/day.ts";
import { type Detail, reportUnreadable } from "../../visits/days/detail.ts";
import type { Row } from "../../visits/days/slice.ts";
import type { RowKey } from "./add-visits.ts";
import type { FileDatabase } from "./file/file-database.ts";

const FIND_OPEN = `
  SELECT day, code, created_ms AS createdMs FROM open_days WHERE day < ?1 ORDER BY day LIMIT 1`;
const ROWS_AFTER = `
  SELECT code, created_ms AS createdMs, detail FROM visits
  WHERE day = ?1 AND (code, created_ms) > (?2, ?3) ORDER BY code, created_ms LIMIT ?4`;
const CLOSE_ROW = "UPDATE visits SET detail = ?4 WHERE day = ?1 AND code = ?2 AND created_ms = ?3";
const KEEP_POSITION = "UPDATE open_days SET code = ?2, created_ms = ?3 WHERE day = ?1";
const CLOSE_DAY = "DELETE FROM open_days WHERE day = ?1";
const FORGOTTEN = "WHERE day > 0 AND day < ?1 ORDER BY day, code, created_ms LIMIT ?2";
const SUM_UP = `
  INSERT INTO visits (day, code, created_ms, visits, bots)
  SELECT 0, code, created_ms, sum(visits), sum(bots) FROM (SELECT * FROM visits ${FORGOTTEN}) AS old
    WHERE EXISTS (SELECT 1 FROM links WHERE links.code = old.code AND links.created_ms = old.created_ms)
    GROUP BY code, created_ms
  ON CONFLICT (day, code, created_ms)
    DO UPDATE SET visits = visits.visits + excluded.visits, bots = visits.bots + excluded.bots`;
const FORGET = `
  DELETE FROM visits
  WHERE (day, code, created_ms) IN (SELECT day, code, created_ms FROM visits ${FORGOTTEN})`;

interface OpenDay {
  day: number;
  /** The row up to which all are closed. */
  code: string;
  createdMs: number;
}

type Ageing = [before: number, limit: number];

export function createAgeing(database: FileDatabase, onFault: (error: unknown) => void) {
  const findOpen = database.statement<OpenDay, [number]>(FIND_OPEN);
  const rowsAfter = database.statement<Pick<Row, "code" | "createdMs" | "detail">, [...RowKey, number]>(
    ROWS_AFTER,
  );
  const closeRow = database.statement<unknown, [...RowKey, Detail]>(CLOSE_ROW);
  const keepPosition = database.statement<unknown, RowKey>(KEEP_POSITION);
  const closeDay = database.statement<unknown, [number]>(CLOSE_DAY);
  const sumUp = database.statement<unknown, Ageing>(SUM_UP);
  const forget = database.statement<unknown, Ageing>(FORGET);

  return {
    /** Returns how many rows it looked at, including closed ones between late ones. */
    closeDays(before: number, limit: number): number {
      let looked = 0;
      for (let open = findOpen.get(before); open !== null && looked < limit; open = findOpen.get(before)) {
        const { day, code, createdMs } = open;
        const rows = rowsAfter.all(day, code, createdMs, limit - looked);
        for (const row of rows) {
          const closed = closeDetail(row.detail);
          if (Buffer.from(closed).equals(row.detail)) continue;
          closeRow.run(day, row.code, row.createdMs, closed);
          reportUnreadable({ ...row, day }, [row.detail], closed, onFault);
        }
        looked += rows.length;
        const last = rows.at(-1);
        if (looked < limit || last === undefined) closeDay.run(day);
        else keepPosition.run(day, last.code, last.createdMs);
      }
      return looked;
    },

    /** Returns how many rows it summed up and deleted. */
    forgetDays(before: number, limit: number): number {
      sumUp.run(before, limit);
      return forget.run(before, limit).changes;
    },
  };
}
