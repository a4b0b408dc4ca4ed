// Moderation, the instance's secret, its counters and its figures: written once for both engines.
import { type Target, targetHost } from "../../links/target.ts";
import { DAY_MS } from "../../links/time.ts";
import type { CountsByName } from "../../moderation/counters.ts";
import {
  type DayFigures,
  FIGURE_DAYS,
  type Figures,
  MAX_COUNTED_DISABLED,
  topHosts,
} from "../../moderation/figures.ts";
import type { EndedSession } from "../../moderation/moderation-store.ts";
import { createCases, createCasesReader } from "./cases.ts";
import { createDecisionsReader } from "./decision-entries.ts";
import { createDecisions, createHostsReader, type EngineParts } from "./decisions.ts";
import { createSettingsMemory } from "./remembered-settings.ts";
import { createReports } from "./report-rows.ts";
import { insertInto, type Run, type Statements } from "./sql.ts";
import { createUndo } from "./undo.ts";

/** The secret of all processes that have none configured. */
const SECRET_NAME = "instance";
/** Keeps the first proposal. Always writes: only a commit proves that PostgreSQL's standby has the row. */
const PROPOSE_SECRET = `
  INSERT INTO secrets (name, secret) VALUES ($1, $2)
  ON CONFLICT (name) DO UPDATE SET secret = secrets.secret RETURNING secret`;
const FIND_SECRET = "SELECT secret FROM secrets WHERE name = $1";
const ADD_COUNTS = "ON CONFLICT (day, name) DO UPDATE SET count = counters.count + excluded.count";

const END_SESSION = "INSERT INTO ended_sessions (session, ends_ms) VALUES ($1, $2) ON CONFLICT DO NOTHING";
const FORGET_SESSIONS = "DELETE FROM ended_sessions WHERE ends_ms <= $1";
const FIND_SESSION = "SELECT 1 FROM ended_sessions WHERE session = $1";

const DISABLED = `
  SELECT count(*) AS count FROM (SELECT 1 FROM links WHERE disabled IS NOT NULL LIMIT ${MAX_COUNTED_DISABLED}) AS few`;
const BLOCKED_HOSTS = "SELECT count(*) AS count FROM hosts";
const COUNTERS = "SELECT day, name, count FROM counters WHERE day > $1 ORDER BY day";

/** The secret, the counters and the operator's sessions. */
function createInstance(run: Run) {
  return {
    async secret(proposed: Uint8Array): Promise<Uint8Array> {
      const { rows } = await run<{ secret: Uint8Array }>(PROPOSE_SECRET, [SECRET_NAME, proposed]);
      return Uint8Array.from(rows[0]?.secret ?? proposed);
    },
    /** Callers repeat this after a broken connection, so counts may be too high. */
    async count(day: number, counts: CountsByName): Promise<void> {
      const positive = Object.entries(counts).filter(([, count]) => count > 0);
      // All writers use the order of names, which prevents deadlocks.
      const rows = positive.toSorted(([one], [other]) => (one < other ? -1 : 1));
      await insertInto(
        run,
        "counters (day, name, count)",
        rows.map((row) => [day, ...row]),
        ADD_COUNTS,
      );
    },
    async endSession({ digest, endsMs }: EndedSession, forgetByMs: number): Promise<void> {
      await run(END_SESSION, [digest, endsMs]);
      await run(FORGET_SESSIONS, [forgetByMs]);
    },
  };
}

/** Statements that depend on how an engine stores links and visits. */
export interface FigureStatements {
  readonly links: string;
  /** The targets of the newest `FIGURE_LINKS` links, each with a count of 1. */
  readonly newest: string;
  /** Targets (empty if unknown) and visits of up to `FIGURE_LINKS` links that were visited on day $1. */
  readonly visited: string;
}

interface Count {
  count: number;
}

export function createFigures(run: Run, { links, newest, visited }: FigureStatements) {
  async function count(statement: string): Promise<number> {
    const { rows } = await run<Count>(statement);
    return Math.max(0, rows[0]?.count ?? 0);
  }

  async function hosts(statement: string, ...values: number[]) {
    const { rows } = await run<Count & { target: Target }>(statement, values);
    return topHosts(rows.map((row) => ({ host: targetHost(row.target), count: row.count })));
  }

  async function days(today: number): Promise<DayFigures[]> {
    const { rows } = await run<Count & { day: number; name: string }>(COUNTERS, [today - FIGURE_DAYS]);
    return [...Map.groupBy(rows, ({ day }) => day)].map(([day, counters]) => ({
      day,
      counts: Object.fromEntries(counters.map((row) => [row.name, row.count])),
    }));
  }

  return {
    async figures(nowMs: number): Promise<Figures> {
      const today = Math.floor(nowMs / DAY_MS);
      return {
        links: await count(links),
        disabled: await count(DISABLED),
        blockedHosts: await count(BLOCKED_HOSTS),
        newestHosts: await hosts(newest),
        visitedHosts: await hosts(visited, today),
        days: await days(today),
      };
    },
  };
}

/** `background` has a longer limit: for work that nobody waits for, and for decisions about thousands of links. */
export function createModeration(statements: Statements, background: Statements, parts: EngineParts) {
  return {
    ...createInstance(statements.run),
    ...createDecisions(background, parts),
    ...createUndo(background, parts),
    ...createReports(statements),
    ...createCases(statements, background, parts),
    ...createSettingsMemory(background),
  };
}

export function createModerationReader(run: Run) {
  return {
    ...createHostsReader(run),
    ...createDecisionsReader(run),
    ...createCasesReader(run),
    async isSessionEnded(digest: Uint8Array): Promise<boolean> {
      return (await run(FIND_SESSION, [digest])).rows.length > 0;
    },
    async isSecret(secret: Uint8Array): Promise<boolean> {
      const [row] = (await run<{ secret: Uint8Array }>(FIND_SECRET, [SECRET_NAME])).rows;
      return row !== undefined && Bun.deepEquals(Uint8Array.from(row.secret), Uint8Array.from(secret));
    },
  };
}
