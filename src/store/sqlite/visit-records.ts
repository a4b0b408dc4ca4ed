import type { Database } from "bun:sqlite";

import type { LinkDay, RecordOf } from "../records.ts";
import { reading, type Tables, writing } from "./record-table.ts";

const READ_DAYS = `
  SELECT day, code, created_ms AS createdMs, visits, bots, detail,
    EXISTS (SELECT 1 FROM open_days WHERE open_days.day = visits.day) AS isOpen
  FROM visits WHERE (day, code, created_ms) > (?1, ?2, ?3) ORDER BY day, code, created_ms LIMIT ?4`;
const WRITE_DAY = `
  INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
  ON CONFLICT (day, code, created_ms) DO UPDATE SET visits = ?4, bots = ?5, detail = ?6
    WHERE (visits, bots, detail) IS NOT (?4, ?5, ?6)`;
const OPEN_DAY = `
  INSERT INTO open_days (day, code, created_ms) VALUES (?1, '', 0)
  ON CONFLICT (day) DO UPDATE SET code = '', created_ms = 0 WHERE code <> ''`;
const READ_SALTS = "SELECT day, salt FROM salts WHERE day > ?1 ORDER BY day LIMIT ?2";
const WRITE_SALT = `
  INSERT INTO salts (day, salt) VALUES (?1, ?2) ON CONFLICT (day) DO UPDATE SET salt = ?2 WHERE salt <> ?2`;

const READ_SECRETS = "SELECT name, secret FROM secrets WHERE name > ?1 ORDER BY name LIMIT ?2";
const WRITE_SECRET = `
  INSERT INTO secrets (name, secret) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET secret = ?2 WHERE secret <> ?2`;

type DayRow = Omit<LinkDay, "isOpen"> & { isOpen: number };

export function visitRecords(database: Database): Tables<"day" | "salt" | "secret"> {
  const writeDayRows = writing<LinkDay>(
    database,
    WRITE_DAY,
    ({ day, code, createdMs, visits, bots, detail }) => [day, code, createdMs, visits, bots, detail],
  );
  const days: Tables["day"] = {
    read: reading<DayRow, LinkDay>(database, READ_DAYS, {
      start: [-1, "", 0],
      keyOf: ({ day, code, createdMs }) => [day, code, createdMs],
      toRecord: ({ isOpen, ...day }) => ({ ...day, isOpen: isOpen === 1 }),
    }),
    write(records) {
      writeDayRows(records);
      const open = database.query<unknown, [number]>(OPEN_DAY);
      for (const day of new Set(records.filter(({ isOpen }) => isOpen).map((record) => record.day)))
        open.run(day);
    },
  };

  return {
    day: days,
    salt: {
      read: reading<RecordOf["salt"], RecordOf["salt"]>(database, READ_SALTS, {
        start: [-1],
        keyOf: ({ day }) => [day],
        toRecord: (row) => row,
      }),
      write: writing(database, WRITE_SALT, ({ day, salt }) => [day, salt]),
    },
    secret: {
      read: reading<RecordOf["secret"], RecordOf["secret"]>(database, READ_SECRETS, {
        start: [""],
        keyOf: ({ name }) => [name],
        toRecord: (row) => row,
      }),
      write: writing(database, WRITE_SECRET, ({ name, secret }) => [name, secret]),
    },
  };
}
