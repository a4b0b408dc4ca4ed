import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { everyLink } from "./links.ts";
import { LOAD_CORE, start } from "./process.ts";
import { type Curt, FROM_SOURCE, startCurt } from "./servers.ts";
import type { Counted, Made, Traffic } from "./traffic.ts";

const AT_ONCE = 32;
const FOLD_LIMIT_MS = 60_000;
const LOOK_AGAIN_MS = 200;
/** About 40,000 links after an hour take half a minute. */
const LINKS_LIMIT_MS = 120_000;

/** How many of the links that were answered with 201 do not lead where they should, or could not be asked for in time. */
export async function countLostLinks(traffic: Traffic): Promise<number> {
  const left = [...traffic.made];
  const deadlineMs = performance.now() + LINKS_LIMIT_MS;
  let lost = 0;
  const worker = async () => {
    while (performance.now() < deadlineMs) {
      const link = left.pop();
      if (link === undefined) return;
      if (!(await traffic.visit(link.code, link.target))) lost++;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return lost + left.length;
}

/** Visits of each link in the store, once the journals of ended processes are folded. */
export async function countedVisits(
  database: string,
  settings: Readonly<Record<string, string>>,
  links: readonly Counted[],
): Promise<number[]> {
  const folder = `${database}-visits`;
  const leftBehind = () =>
    existsSync(folder) ? readdirSync(folder).filter((name) => /^[^0]\d*-.*\.visits$/.test(name)) : [];
  // The first start takes over what others left and adds what it counted itself when it stops.
  const first = await startCurt(database, { settings });
  const deadlineMs = performance.now() + FOLD_LIMIT_MS;
  while (leftBehind().length > 0 && performance.now() < deadlineMs) await Bun.sleep(LOOK_AGAIN_MS);
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
  /** Of restoring the newest one, and of checking what was restored. */
  readonly codes: readonly number[];
  /** Created before the backup started, and missing in it. */
  readonly missing: number;
}

export const NOTHING_RESTORED: Restored = { backups: 0, codes: [], missing: Number.NaN };

/** Restores the newest backup that Curt made by itself. */
export async function restoreNewest(
  backupFolder: string,
  database: string,
  made: readonly Made[],
): Promise<Restored> {
  const names = existsSync(backupFolder) ? readdirSync(backupFolder).toSorted() : [];
  const newest = names.findLast((name) => name.endsWith("Z.db"));
  if (newest === undefined) return NOTHING_RESTORED;
  const codes = [
    await command(["restore", join(backupFolder, newest), "--to", `sqlite:${database}`], database),
    await command(["check"], database),
  ];
  const kept = new Map(codes[0] === 0 ? everyLink(database) : []);
  const [, date, hours, minutes, seconds] = /-(\d{8})T(\d\d)(\d\d)(\d\d)Z/.exec(newest) ?? [];
  const day = date?.replace(/(....)(..)(..)/, "$1-$2-$3");
  const beganMs = Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`);
  const missing = made.filter(({ code, target, madeMs }) => madeMs < beganMs && kept.get(code) !== target);
  return { backups: names.length, codes, missing: missing.length };
}
