// Requests that may be retried.
import type { KeyedRequest, LinkStore, CreatedRecord, NumberedLink } from "../../links/link-store.ts";
import { type CommitFigures, createCommits } from "../shared/commits.ts";
import { type Run, type Statements, WAIT_SHARE } from "./connection/database.ts";
import { insertInTurn, insertRows, repeatIfUnknown } from "./inserts.ts";
import type { LinkCount } from "./link-count.ts";

/** Small batches, because each request may have many links. */
const REQUESTS = { waiting: 1000, batch: 16, atOnce: 3 };

/**
 * Locks in the order of the keys and before any link, which prevents deadlocks. Requests with the same key wait for each
 * other across processes.
 */
const LOCK = `
  INSERT INTO requests AS known (key, body, sent_ms, made)
  SELECT key, body, sent_ms, '[]' FROM unnest($1::text[], $2::text[], $3::bigint[]) AS sent (key, body, sent_ms)
  ORDER BY key COLLATE "C"
  ON CONFLICT (key) DO UPDATE SET made = known.made
  RETURNING key, body, made`;
/** $1 are the keys of requests that created nothing. */
const KEEP = `
  WITH nothing AS (DELETE FROM requests WHERE key = ANY ($1::text[]))
  UPDATE requests SET made = given.made FROM unnest($2::text[], $3::text[]) AS given (key, made)
  WHERE requests.key = given.key AND requests.key = ANY ($2::text[])`;
/** Writes the row that it reads: only the commit of a write proves that the standby has the row. */
const RECALL = "UPDATE requests SET made = made WHERE key = $1 RETURNING body, made";
const FORGET = `
  DELETE FROM requests WHERE key = ANY (ARRAY(
    SELECT key FROM requests WHERE sent_ms < $1 ORDER BY sent_ms LIMIT $2 FOR UPDATE SKIP LOCKED))`;

interface Task {
  readonly links: readonly NumberedLink[];
  readonly request: KeyedRequest;
}

type Outcome = Awaited<ReturnType<LinkStore["insertOnce"]>>;

/** The body and the created links of a key. */
interface StoredRequest {
  readonly body: string;
  readonly made: Map<number, CreatedRecord>;
}

export function createRepeatableRequests(
  { transaction, run, limitMs }: Statements,
  background: Pick<Statements, "run">,
  count: Pick<LinkCount, "add">,
  figures?: CommitFigures,
) {
  const requests = createCommits({ ...REQUESTS, waitMs: WAIT_SHARE * limitMs }, insertAll, figures);

  async function insertAll(tasks: readonly Task[], sinceMs: number): Promise<Outcome[]> {
    const outcomes = new Map<Task, Outcome>();
    for (let remaining = tasks; remaining.length > 0;) {
      const batch = remaining;
      // The keys make a repetition safe.
      const decided = await repeatIfUnknown(sinceMs, limitMs, () => insertRound(batch));
      for (const [nth, task] of batch.entries()) {
        const outcome = decided[nth];
        if (outcome !== undefined) outcomes.set(task, outcome);
      }
      remaining = batch.filter((task) => !outcomes.has(task));
    }
    return tasks.map((task) => outcomes.get(task) ?? []);
  }

  /** Decides at least the first request of each key. Undefined for those that remain. */
  async function insertRound(tasks: readonly Task[]): Promise<(Outcome | undefined)[]> {
    const round = await transaction(async (on) => {
      let added = 0;
      const known = await lock(on, tasks);
      const tried = firstOfEach(tasks, known);
      const links = [...tried.values()];
      const isInserted = await insertInTurn(links, async (distinct) => {
        const inserted = await insertRows(on, distinct);
        added += inserted.added;
        return inserted.codes;
      });
      const changed = new Set<string>();
      for (const [at, link] of links.entries()) {
        if (isInserted[at] !== true) continue;
        const { nth, code, createdMs, endsMs, request } = link;
        known.get(request.key)?.made.set(nth, { nth, code, createdMs, endsMs });
        changed.add(request.key);
        link.isAdded = true;
      }
      await keep(on, known, changed);
      return { outcomes: tasks.map((task) => outcomeOf(task, known.get(task.request.key), tried)), added };
    });
    count.add(round.added);
    return round.outcomes;
  }

  return {
    async insertOnce(links, request) {
      const [outcome] = await requests.add([{ links, request }]);
      return outcome;
    },
    async recall({ key, body }) {
      const [row] = (await run<{ body: string; made: string }>(RECALL, [key])).rows;
      if (row === undefined) return [];
      return row.body === body ? (JSON.parse(row.made) as CreatedRecord[]) : { kind: "key-reused" };
    },
    forgetRequests: async (sentBeforeMs, limit) =>
      (await background.run(FORGET, [sentBeforeMs, limit])).count,
    settled: requests.settled,
  } satisfies Partial<LinkStore> & { settled: unknown };
}

async function lock(run: Run, tasks: readonly Task[]): Promise<Map<string, StoredRequest>> {
  const first = new Map<string, KeyedRequest>();
  for (const { request } of tasks) if (!first.has(request.key)) first.set(request.key, request);
  const sent = [...first.values()];
  const { rows } = await run<{ key: string; body: string; made: string }>(LOCK, [
    sent.map(({ key }) => key),
    sent.map(({ body }) => body),
    sent.map(({ sentMs }) => sentMs),
  ]);
  return new Map(
    rows.map(({ key, body, made }) => {
      const records = JSON.parse(made) as CreatedRecord[];
      return [key, { body, made: new Map(records.map((record) => [record.nth, record])) }];
    }),
  );
}

interface TriedLink extends NumberedLink {
  readonly request: KeyedRequest;
  isAdded: boolean;
}

/** The first link of each key and number that has not been created yet. */
function firstOfEach(tasks: readonly Task[], known: ReadonlyMap<string, StoredRequest>) {
  const tried = new Map<string, TriedLink>();
  for (const { links, request } of tasks) {
    const before = known.get(request.key);
    if (before?.body !== request.body) continue;
    for (const link of links) {
      const id = numberOf(request, link);
      if (!before.made.has(link.nth) && !tried.has(id)) tried.set(id, { ...link, request, isAdded: false });
    }
  }
  return tried;
}

async function keep(
  run: Run,
  known: ReadonlyMap<string, StoredRequest>,
  changed: ReadonlySet<string>,
): Promise<void> {
  const nothing = [...known].filter(([, { made }]) => made.size === 0).map(([key]) => key);
  const keys = [...changed];
  if (nothing.length === 0 && keys.length === 0) return;
  const made = keys.map((key) => JSON.stringify([...(known.get(key)?.made.values() ?? [])]));
  await run(KEEP, [nothing, keys, made]);
}

/** Undefined if it was not tried: another request with this key was, and did not create all of its links. */
function outcomeOf(
  { links, request }: Task,
  { body, made }: StoredRequest = { body: request.body, made: new Map() },
  tried: ReadonlyMap<string, TriedLink>,
): Outcome | undefined {
  if (body !== request.body) return made.size === 0 ? undefined : { kind: "key-reused" };
  const outcomes = links.map((link) => {
    const first = tried.get(numberOf(request, link));
    if (first?.isAdded === true && first.request === request) return true;
    return made.get(link.nth) ?? (first?.code === link.code ? false : undefined);
  });
  return outcomes.every((outcome) => outcome !== undefined) ? outcomes : undefined;
}

function numberOf({ key }: Pick<KeyedRequest, "key">, { nth }: NumberedLink): string {
  return `${nth} ${key}`;
}
