// The writer of bare.ts: the first message is the path of a new file, each other one the rows of a transaction.
import { Database } from "bun:sqlite";

import schema from "../src/store/sqlite/migrations/001-store.sql" with { type: "text" };

declare const self: Worker;

self.onmessage = ({ data: path }: MessageEvent<string>) => {
  const database = new Database(path, { create: true });
  for (const setting of ["journal_mode = WAL", "synchronous = FULL"]) database.run(`PRAGMA ${setting}`);
  database.run(schema);
  const insert = database.prepare<unknown, [string, string, string | null, number]>(
    "INSERT INTO links (code, original_url, target, created_ms) VALUES (?1, ?2, ?3, ?4)",
  );
  const insertAll = database.transaction((rows: readonly [string, string, string | null, number][]) => {
    for (const row of rows) insert.run(...row);
  });
  self.onmessage = ({ data }: MessageEvent<string>) => {
    insertAll.immediate(JSON.parse(data));
    self.postMessage(null);
  };
};
