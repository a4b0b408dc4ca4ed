// Requests that may be retried, in the worker thread. Each call is one transaction.
import type {
  CreatedRecord,
  KeyedRequest,
  KeyReused,
  LinkStore,
  NumberedLink,
  RepeatableRequest,
} from "../../links/link-store.ts";
import type { FileDatabase } from "./file/file-database.ts";
import { insertRow, type LinksTable } from "./link-writes.ts";

const FIND = "SELECT body, made FROM requests WHERE key = ?1";
const KEEP = `
  INSERT INTO requests (key, body, sent_ms, made) VALUES (?1, ?2, ?3, ?4)
  ON CONFLICT (key) DO UPDATE SET made = excluded.made`;
const FORGET = `
  DELETE FROM requests WHERE key IN (SELECT key FROM requests WHERE sent_ms < ?1 ORDER BY sent_ms LIMIT ?2)`;

export interface KeyedTask {
  readonly links: readonly NumberedLink[];
  readonly request: KeyedRequest;
}

export type KeyedOutcome = Awaited<ReturnType<LinkStore["insertOnce"]>>;

export function createRepeatableRequests(database: FileDatabase, links: LinksTable) {
  const find = createRecall(database);
  const keep = database.statement<unknown, [string, string, number, string]>(KEEP);
  const forget = database.statement<unknown, [number, number]>(FORGET);

  function insertOne({ links: requestedLinks, request }: KeyedTask): KeyedOutcome {
    const before = find.recall(request);
    if ("kind" in before) return before;
    const made = new Map(before.map((record) => [record.nth, record]));
    const missing = requestedLinks.filter(({ nth }) => !made.has(nth));
    const isInserted = links.insertAll(missing.map(insertRow));
    const inserted = missing.filter((_, at) => isInserted[at] === true);
    if (inserted.length > 0) {
      const records = inserted.map(({ nth, code, createdMs, endsMs }) => ({ nth, code, createdMs, endsMs }));
      keep.run(request.key, request.body, request.sentMs, JSON.stringify([...before, ...records]));
    }
    return requestedLinks.map((link) => made.get(link.nth) ?? inserted.includes(link));
  }

  const insertAll = database.transaction((tasks: readonly KeyedTask[]) => tasks.map(insertOne));

  return {
    insertOnce: (tasks: readonly KeyedTask[]): KeyedOutcome[] => insertAll.immediate(tasks),
    forget: (sentBeforeMs: number, limit: number): number => forget.run(sentBeforeMs, limit).changes,
  };
}

/** The reading half. */
export function createRecall(database: FileDatabase) {
  const find = database.statement<{ body: string; made: string }, [string]>(FIND);
  return {
    recall({ key, body }: RepeatableRequest): readonly CreatedRecord[] | KeyReused {
      const row = find.get(key);
      if (row === null) return [];
      return row.body === body ? (JSON.parse(row.made) as CreatedRecord[]) : { kind: "key-reused" };
    },
  };
}
