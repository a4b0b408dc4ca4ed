import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { everyLink } from "./links.ts";
import { LOAD_CORE, start } from "./process.ts";
import { type Curt, FROM_SOURCE, startCurt } from "./servers.ts";
import type { Counted, CreatedLink, Traffic } from "./traffic.ts";

const AT_ONCE = 32;
const FOLD_LIMIT_MS = 60_000;
const POLL_MS = 200;
/** About 40,000 links after an hour take half a minute. */
const LINKS_LIMIT_MS = 120_000;

/** The number of confirmed links that don't redirect to their destination, or that weren't checked in time. */
export async function countLostLinks(traffic: Traffic): Promise<number> {
  const remaining = [...traffic.created];
  const deadlineMs = performance.now() + LINKS_LIMIT_MS;
  let lost = 0;
  const worker = async () => {
    while (performance.now() < deadlineMs) {
      const link = remaining.pop();
      if (link === undefined) return;
      if (!(await traffic.visit(link.code, link.target))) lost++;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return lost + remaining.length;
}

/** Visits of each link in the store, once the journals of ended processes are folded. */
export async function countedVisits(
  database: string,
  settings: Readonly<Record<string, string>>,
  links: readonly Counted[],
): Promise<number[]> {
  const folder = `${database}-visits`;
  const foreignSegments = () =>
    existsSync(folder) ? readdirSync(folder).filter((name) => /^[^0]\d*-.*\.visits$/.test(name)) : [];
  // The first start folds the segments of ended processes, and its own when it stops.
  const first = await startCurt(database, { settings });
  const deadlineMs = performance.now() + FOLD_LIMIT_MS;
  while (foreignSegments().length > 0 && performance.now() < deadlineMs) await Bun.sleep(POLL_MS);
  await first.stop();
  const second = await startCurt(database, { settings });
  const visits = await Promise.all(links.map(({ code }) => visitsOf(second, code)));
  await second.stop();
  return visits;
}

async function visitsOf({ port }: Curt, code: string): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/links/${code}`);
  const { data } = (await answer.json()) as { data?: { visits: number } };
  return data?.visits ?? Number.NaN;
}

/** Runs a command of Curt's and resolves with its exit code. */
export function command(words: readonly string[], database: string): Promise<number> {
  return start([...FROM_SOURCE, ...words], LOAD_CORE, { DATABASE_URL: `sqlite:${database}` }).exited;
}

interface Restored {
  readonly backups: number;
  /** Exit codes of restoring the newest one and of checking the result. */
  readonly codes: readonly number[];
  /** The number of links that were created before the backup started and are missing in it. */
  readonly missing: number;
}

export const NOTHING_RESTORED: Restored = { backups: 0, codes: [], missing: Number.NaN };

/** Restores the newest backup that Curt created by itself. */
export async function restoreNewest(
  backupFolder: string,
  database: string,
  created: readonly CreatedLink[],
): Promise<Restored> {
  const names = existsSync(backupFolder) ? readdirSync(backupFolder).toSorted() : [];
  const newest = names.findLast((name) => name.endsWith("Z.db"));
  if (newest === undefined) return NOTHING_RESTORED;
  const codes = [
    await command(["restore", join(backupFolder, newest), "--to", `sqlite:${database}`], database),
    await command(["check"], database),
  ];
  const links = new Map(codes[0] === 0 ? everyLink(database) : []);
  const [, date, hours, minutes, seconds] = /-(\d{8})T(\d\d)(\d\d)(\d\d)Z/.exec(newest) ?? [];
  const day = date?.replace(/(....)(..)(..)/, "$1-$2-$3");
  const startedMs = Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`);
  const missing = created.filter(
    ({ code, target, createdMs }) => createdMs < startedMs && links.get(code) !== target,
  );
  return { backups: names.length, codes, missing: missing.length };
}
