import type { Database } from "bun:sqlite";

import { close } from "../../visits/day.ts";
import type { LinkDay, RecordOf } from "../records.ts";
import { reading, type Tables, writing } from "./record-table.ts";

const DAYS = `
  SELECT day, code, created_ms AS createdMs, visits, bots, detail,
    EXISTS (SELECT 1 FROM open_days WHERE open_days.day = visits.day) AS isOpen
  FROM visits ORDER BY day, code, created_ms`;
/** Visits of a link that was purged and is taken in again may still be there. */
const ADD_DAY = `
  INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
  ON CONFLICT (day, code, created_ms) DO NOTHING`;
const SECRETS = "SELECT name, secret FROM secrets ORDER BY name";
const ADD_SECRET = "INSERT INTO secrets (name, secret) VALUES (?1, ?2) ON CONFLICT DO NOTHING";

export function visitRecords(database: Database): Tables<"day" | "secret"> {
  return {
    day: {
      read: reading(database, DAYS, ({ isOpen, detail, ...day }: LinkDay & { isOpen: number }) => ({
        ...day,
        detail: isOpen === 1 && detail !== null ? close(detail) : detail,
      })),
      write: writing(database, ADD_DAY, ({ day, code, createdMs, visits, bots, detail }) => [
        day,
        code,
        createdMs,
        visits,
        bots,
        detail,
      ]),
    },
    secret: {
      read: reading(database, SECRETS, (row: RecordOf["secret"]) => row),
      write: writing(database, ADD_SECRET, ({ name, secret }) => [name, secret]),
    },
  };
}
