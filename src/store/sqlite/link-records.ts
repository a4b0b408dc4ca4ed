import type { Database } from "bun:sqlite";

import type { Code } from "../../links/code.ts";
import type { KeyedRequest, Made } from "../../links/store.ts";
import { ADD_LINK, columnsOf, LINK_COLUMNS, type LinkRow, toLink } from "./link-row.ts";
import { reading, type Tables, writing } from "./record-table.ts";

const LINKS = `SELECT code, ${LINK_COLUMNS} FROM links ORDER BY rowid`;
const REQUESTS = "SELECT key, body, sent_ms AS sentMs, made FROM requests ORDER BY sent_ms, key";
const ADD_REQUEST =
  "INSERT INTO requests (key, body, sent_ms, made) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING";

export function linkRecords(database: Database): Tables<"link" | "request"> {
  return {
    link: {
      read: reading(database, LINKS, ({ code, ...row }: LinkRow & { code: Code }) => toLink(code, row)),
      write: writing(database, ADD_LINK, columnsOf),
    },
    request: {
      read: reading(database, REQUESTS, ({ made, ...request }: KeyedRequest & { made: string }) => ({
        ...request,
        made: JSON.parse(made) as Made[],
      })),
      write: writing(database, ADD_REQUEST, ({ key, body, sentMs, made }) => [
        key,
        body,
        sentMs,
        JSON.stringify(made),
      ]),
    },
  };
}
