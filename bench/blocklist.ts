// Measures a blocklist of a million hosts: reading, memory, checks, and redirects while it is reloaded.
import { utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { readListFile } from "../src/moderation/blocklist/list-file.ts";
import { createListCheck, type ListCheck } from "../src/moderation/blocklist/list-table.ts";
import { generated, visitsOnce } from "./load.ts";
import { median, rounded } from "./measure.ts";
import { memoryBytes } from "./process.ts";
import type { Bench, Result, Row } from "./report.ts";
import { makeLinks, type Server, startCurt } from "./servers.ts";

const HOSTS = 1_000_000;
const CHECKS = 300_000;
const ROUNDS = 7;
const LINKS = 1000;
const VISITS_PER_SECOND = 2000;
/** Long enough to notice, confirm and read a change. */
const RELOAD_MS = 35_000;
const RELOADS = 3;
const MEBIBYTE = 1024 * 1024;

const SUFFIXES = [
  "com",
  "com",
  "com",
  "net",
  "org",
  "xyz",
  "top",
  "info",
  "co.uk",
  "co.kr",
  "github.io",
  "web.app",
];
const ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789-";

export async function measureBlocklist({ folder, progress }: Bench): Promise<Result> {
  progress(`a list of ${HOSTS} hosts`);
  const hosts = Array.from({ length: HOSTS }, (_, nth) => host(nth));
  const list = join(folder, "list");
  writeFileSync(list, `${hosts.join("\n")}\n`);
  const empty = join(folder, "empty");
  writeFileSync(empty, "");
  const rows: Row[] = [...checks(list, hosts)];

  progress("starts with and without the list");
  const without = await startTimed(folder, { BLOCKLIST: empty });
  await visitOnce(without.curt, folder);
  const quietMemory = memoryBytes(without.curt.pid);
  await without.curt.stop();
  const { curt, startMs } = await startTimed(folder, { BLOCKLIST: list });
  const linksFile = await visitOnce(curt, folder);
  const memory = memoryBytes(curt.pid);

  const visits = generated(RELOAD_MS, {
    kind: "visits",
    linksFile,
    status: 302,
    perSecond: VISITS_PER_SECOND,
  });
  progress("redirects");
  const { latencies: quiet } = await visits(curt);
  let reloading = quiet;
  for (let nth = 1; nth <= RELOADS; nth++) {
    progress(`redirects while the list is reloaded, ${nth} of ${RELOADS}`);
    utimesSync(list, nth, nth);
    ({ latencies: reloading } = await visits(curt));
  }
  const after = memoryBytes(curt.pid);
  await curt.stop();

  const mebibytes = (bytes: number) => rounded(bytes / MEBIBYTE, 0);
  rows.push(
    row("start without it, ms", without.startMs),
    row("start with it, ms", startMs),
    row("memory of the process without it, MiB", mebibytes(quietMemory.now)),
    row("memory with it, MiB", mebibytes(memory.now)),
    row("memory with it at most, during the start, MiB", mebibytes(memory.most)),
    row(`memory after ${RELOADS} changes, MiB`, mebibytes(after.now)),
    row("memory at most, during a change, MiB", mebibytes(after.most)),
    row(`hot redirects, ${VISITS_PER_SECOND}/s: p99, µs`, quiet[0]?.p99Us),
    row("during a reload: p99, µs", reloading[0]?.p99Us),
    row("hot redirects: longest, µs", quiet[0]?.maxUs),
    row("during a reload: longest, µs", reloading[0]?.maxUs),
  );
  return { rows, rounds: {} };
}

function row(what: string, figure: number | undefined): Row {
  return { [`a blocklist of ${HOSTS.toLocaleString("en")} hosts`]: what, figure };
}

function* checks(list: string, hosts: readonly string[]): Generator<Row> {
  const startMs = performance.now();
  const { table, rules } = readListFile(list, [1, 2]);
  if (rules !== HOSTS) throw new Error(`${rules} rules were read, not ${HOSTS}`);
  yield row("reading it, ms", performance.now() - startMs);
  yield row("its table, MiB", rounded(table.byteLength / MEBIBYTE, 0));
  const check = createListCheck([table]);
  const listed = hosts.slice(0, CHECKS);
  const url = (name: string) => new URL(`https://${name}/articles/how-short-links-work?from=home`).href;
  yield row("a check of a listed host, ns", time(check, listed.map(url), true));
  yield row(
    "of one below it, ns",
    time(
      check,
      listed.map((name) => url(`www.${name}`)),
      true,
    ),
  );
  yield row(
    "of another host, ns",
    time(
      check,
      listed.map((name) => url(`www.x${name}`)),
      false,
    ),
  );
}

/** Nanoseconds per check. The order of the targets defeats the processor's caches. */
function time(check: ListCheck, targets: readonly string[], expected: boolean): number {
  const rounds = Array.from({ length: ROUNDS }, () => {
    const startMs = performance.now();
    let blocked = 0;
    for (const target of targets) if (check(target)) blocked++;
    if (blocked !== (expected ? targets.length : 0))
      throw new Error(`${blocked} of ${targets.length} are blocked`);
    return ((performance.now() - startMs) * 1e6) / targets.length;
  });
  return median(rounds);
}

/** A host as long as real ones, sometimes below another. */
function host(nth: number): string {
  const word = (length: number) =>
    Array.from({ length }, () => ALPHABET[Math.floor(Math.random() * 36)]).join("");
  const below = nth % 5 < 2 ? `${word(3 + (nth % 8))}.` : "";
  return `${below}${word(4 + (nth % 11))}${nth.toString(36)}.${SUFFIXES[nth % SUFFIXES.length]}`;
}

async function startTimed(folder: string, settings: Readonly<Record<string, string>>) {
  const startMs = performance.now();
  const curt = await startCurt(join(folder, "blocklist.db"), { settings });
  return { curt, startMs: performance.now() - startMs };
}

async function visitOnce(curt: Server, folder: string): Promise<string> {
  const linksFile = join(folder, "blocklist-links");
  await makeLinks(curt, LINKS, linksFile);
  await visitsOnce(linksFile)(curt);
  return linksFile;
}
