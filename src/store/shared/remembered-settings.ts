// Settings of former configurations in the store, so that a start can compare.
import type { CodeCase } from "../../links/code.ts";
import type { KnownHosts } from "../../moderation/moderation-store.ts";
import type { KnownKeep } from "../../visits/days/visit-store.ts";
import { insertInto, type Run, type Statements } from "./sql.ts";

interface Remembered {
  readonly name: string;
  readonly value: string;
  readonly since_ms: number;
}

const ALL = "SELECT name, value, since_ms FROM remembered_settings ORDER BY since_ms";
const REMEMBER = "remembered_settings (name, value, since_ms)";
/** Of BASE_URL: without a prefix. */
const HAS_LINKS_OF_TIME = `
  SELECT 1 FROM links WHERE created_ms >= $1 AND created_ms < $2 AND code NOT LIKE '%/%' LIMIT 1`;
/** All keys with a prefix, such as "go.example.com/". "0" comes after "/". */
const HAS_LINKS_OF_DOMAIN = "SELECT 1 FROM links WHERE code >= $1 AND code < $2 LIMIT 1";

/** `since_ms` of CODE_CASE: from the first link on, the rule stays. Purging the links doesn't change that. */
const FIXED = 1;
const MAY_CHANGE = `since_ms < ${FIXED} AND NOT EXISTS (SELECT 1 FROM links)`;
/** Locks the row, so a first link that another process creates meanwhile comes before or after this. */
const CHANGE_CODE_CASE = `
  UPDATE remembered_settings SET value = $1 WHERE name = 'CODE_CASE' AND value <> $1 AND ${MAY_CHANGE}`;
const FIX_CODE_CASE = `
  UPDATE remembered_settings SET since_ms = ${FIXED}
  WHERE name = 'CODE_CASE' AND value = $1 AND since_ms < ${FIXED}`;
const CODE_CASE = `
  SELECT value, CASE WHEN ${MAY_CHANGE} THEN 1 ELSE 0 END AS "mayChange"
  FROM remembered_settings WHERE name = 'CODE_CASE'`;

/** Chooses the rule for capitals in codes, unless there are links already. Returns the store's. */
async function rememberCodeCase(run: Run, codeCase: CodeCase): Promise<CodeCase> {
  await remember(run, "CODE_CASE", codeCase, 0);
  await run(CHANGE_CODE_CASE, [codeCase]);
  return readCodeCase(run);
}

/** The same, permanently, for an import. */
export async function keepCodeCase(run: Run, codeCase: CodeCase): Promise<CodeCase> {
  await rememberCodeCase(run, codeCase);
  return fixCodeCase(run, codeCase);
}

/** Keeps the rule permanently if the store has it, before links are written by it. Returns the store's. */
async function fixCodeCase(run: Run, codeCase: CodeCase): Promise<CodeCase> {
  await run(FIX_CODE_CASE, [codeCase]);
  return readCodeCase(run);
}

/** `wanted`: returned if the store could still have it. */
export async function readCodeCase(run: Run, wanted?: CodeCase): Promise<CodeCase> {
  const [row] = (await run<{ value: CodeCase; mayChange: number }>(CODE_CASE)).rows;
  const choice = row === undefined || row.mayChange === 1 ? wanted : undefined;
  return choice ?? row?.value ?? "match";
}

async function remember(run: Run, name: string, value: string, sinceMs: number): Promise<void> {
  await insertInto(run, REMEMBER, [[name, value, sinceMs]], "ON CONFLICT DO NOTHING");
}

async function has(run: Run, ...query: Parameters<Run>): Promise<boolean> {
  return (await run(...query)).rows.length > 0;
}

const hasLinks = (run: Run, host: string) => has(run, HAS_LINKS_OF_DOMAIN, [`${host}/`, `${host}0`]);

/** Compares DOMAINS with the hosts of former configurations. */
export async function compareHosts(run: Run, domainHosts: readonly string[]) {
  const { rows } = await run<Remembered>(ALL);
  const bases = rows.filter(({ name }) => name === "BASE_URL");
  const domains = rows.flatMap(({ name, value }) => (name === "DOMAINS" ? value : []));
  const moved = new Set<string>();
  for (const [nth, { value, since_ms }] of bases.entries()) {
    if (!domainHosts.includes(value) || (await hasLinks(run, value))) continue;
    const untilMs = bases[nth + 1]?.since_ms ?? Number.MAX_SAFE_INTEGER;
    if (await has(run, HAS_LINKS_OF_TIME, [since_ms, untilMs])) moved.add(value);
  }
  const removed: string[] = [];
  for (const host of moved.size > 0 ? [] : domains)
    if (!domainHosts.includes(host) && (await hasLinks(run, host))) removed.push(host);
  return { moved: [...moved], removed, bases, domains };
}

export function createSettingsMemory({ transaction }: Statements) {
  return {
    rememberHosts: (baseHost: string, domainHosts: readonly string[], nowMs: number): Promise<KnownHosts> =>
      transaction(async (run) => {
        const { moved, removed, bases, domains } = await compareHosts(run, domainHosts);
        if (moved.length > 0) return { moved, removed };
        if (bases.at(-1)?.value !== baseHost)
          await remember(run, "BASE_URL", baseHost, bases.length === 0 ? 0 : nowMs);
        for (const host of domainHosts) if (!domains.includes(host)) await remember(run, "DOMAINS", host, 0);
        return { moved, removed };
      }),
    rememberCodeCase: (codeCase: CodeCase) => transaction((run) => rememberCodeCase(run, codeCase)),
    fixCodeCase: (codeCase: CodeCase) => transaction((run) => fixCodeCase(run, codeCase)),
    rememberKeep: (days: number, nowMs: number): Promise<KnownKeep> =>
      transaction(async (run) => {
        const rows = (await run<Remembered>(ALL)).rows.filter(({ name }) => name === "STATS_KEEP");
        const former = rows.findLastIndex(({ value }) => value !== String(days));
        const sinceMs = rows[former + 1]?.since_ms ?? nowMs;
        if (former === rows.length - 1) await remember(run, "STATS_KEEP", String(days), nowMs);
        return { sinceMs, formerDays: Number(rows[former]?.value ?? days) };
      }),
  };
}
