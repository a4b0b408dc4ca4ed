import type { Window } from "../../guard/limits.ts";
import type { SharedCounts, Taken } from "../../guard/shared-limit.ts";
import type { GuardStore } from "../../guard/store.ts";
import { createCommits } from "../commits.ts";
import type { Statements } from "./database.ts";

const TAKES = { waiting: 10_000, batch: 1000, atOnce: 2 };
/** Of a statement's limit: who waits longer to be counted is refused. */
const WAIT_SHARE = 0.5;
/** Deleted at once, so that no statement takes long. */
const MAX_FORGOTTEN = 100_000;
const MAX_ROUNDS = 20;

/**
 * By the clock of the server: those of the processes differ. Not the time at which the statement began: it may have waited
 * for one that began later.
 */
const NOW_MS = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
const WINDOWS = "$3::bigint[], $4::bigint[]";
/** The algorithm of `guard/limits.ts`: how many of `asked` are granted, and when each window is paid off then. */
const count = (paidOff: string, asked: string) => `
  SELECT granted, max(ceil((start_ms + left_over) / count)), array_agg((start_ms + left_over)::bigint ORDER BY nth)
  FROM (
    SELECT nth, count, granted, start_ms, greatest(0, owed + granted * ms) AS left_over
    FROM (
      SELECT *, least(${asked}, greatest(0, min(count - ceil(owed / ms::numeric)) OVER ())) AS granted
      FROM (
        SELECT nth, count, ms, now_ms * count AS start_ms,
          least(ms * count, greatest(0, paid_off - now_ms * count)) AS owed
        FROM (SELECT ${NOW_MS} AS now_ms) AS clock,
          unnest(${paidOff}, ${WINDOWS}) WITH ORDINALITY AS window_of (paid_off, count, ms, nth)
      ) AS before
    ) AS decided
  ) AS after
  GROUP BY granted`;
/** In the order of the clients, so that no two statements wait for each other. What is given back is asked for as less than 0. */
const TAKE = `
  INSERT INTO shared_limits AS known (client, granted, free_ms, paid_off)
  SELECT asked.client, new.* FROM unnest($1::uuid[], $2::integer[]) AS asked (client, things)
    CROSS JOIN LATERAL (${count("NULL::bigint[]", "asked.things")}) AS new
  ORDER BY asked.client
  ON CONFLICT (client) DO UPDATE SET (granted, free_ms, paid_off) = (${count("known.paid_off", "excluded.granted")})
  RETURNING replace(client::text, '-', '') AS client, granted, ARRAY(
    SELECT paid_off - ${NOW_MS} * count
    FROM unnest(known.paid_off, ${WINDOWS}) WITH ORDINALITY AS window_of (paid_off, count, ms, nth) ORDER BY nth) AS owed`;
/** A row that somebody is counting in is left for the next time. */
const FORGET = `
  DELETE FROM shared_limits WHERE client = ANY (ARRAY(
    SELECT client FROM shared_limits WHERE free_ms < ${NOW_MS} LIMIT ${MAX_FORGOTTEN} FOR UPDATE SKIP LOCKED))`;

interface Asked {
  readonly client: string;
  /** Less than 0 if they are given back. */
  readonly things: number;
}

interface TakenRow {
  client: string;
  granted: number;
  /** PostgreSQL's driver leaves the numbers of such an array as text. */
  owed: string[];
}

/** Limits that all processes share. */
export function createSharedLimits({ run, limitMs }: Pick<Statements, "run" | "limitMs">) {
  function shareCounts(windows: readonly Window[]): SharedCounts {
    const [counts, times] = [windows.map((window) => window.count), windows.map((window) => window.ms)];
    const takes = createCommits({ ...TAKES, waitMs: WAIT_SHARE * limitMs }, takeAll);

    /** What several ask for one client is one row: what is given back goes to those who ask at the same time. */
    async function takeAll(asked: readonly Asked[]): Promise<Taken[]> {
      const sums = new Map<string, number>();
      for (const one of asked) sums.set(one.client, (sums.get(one.client) ?? 0) + one.things);
      const values = [[...sums.keys()], [...sums.values()], counts, times];
      const { rows } = await run<TakenRow>(TAKE, values);
      const taken = new Map(
        rows.map(({ client, granted, owed }) => [client, { left: granted, owed: owed.map(Number) }]),
      );
      for (const { client, things } of asked) {
        const known = taken.get(client);
        if (known !== undefined && things < 0) known.left -= things;
      }
      const areCounted = asked.map(({ client, things }) => {
        const known = taken.get(client);
        if (known === undefined || things < 0 || known.left < things) return false;
        known.left -= things;
        return true;
      });
      // Too few for one who asked for several.
      for (const [client, known] of taken) {
        if (known.left <= 0) continue;
        takes.add([{ client, things: -known.left }]).catch(() => {});
        known.owed = known.owed.map((owed, nth) => Math.max(0, owed - known.left * (times[nth] ?? 0)));
      }
      return asked.map(({ client }, nth) => ({
        isCounted: areCounted[nth] ?? false,
        owed: taken.get(client)?.owed ?? [],
      }));
    }

    return {
      async take(client, things) {
        const [taken = { isCounted: false, owed: [] }] = await takes.add([{ client, things }]);
        return taken;
      },
      async giveBack(client, things) {
        await takes.add([{ client, things: -things }]);
      },
    };
  }

  return {
    shareCounts,
    /** Deletes clients that have nothing counted any more. */
    async forgetClients(background: Pick<Statements, "run">): Promise<void> {
      for (let round = 0; round < MAX_ROUNDS; round++)
        if ((await background.run(FORGET)).count < MAX_FORGOTTEN) return;
    },
  } satisfies Partial<GuardStore> & { forgetClients: unknown };
}
