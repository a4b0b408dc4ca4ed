import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { command, countedVisits, countLostLinks, NOTHING_RESTORED, restoreNewest } from "./aftermath.ts";
import { type Figures, isReached } from "./aims.ts";
import { rounded } from "./measure.ts";
import { cpuTimeUs, machineBusyUs, openDescriptors, ownMemoryBytes } from "./process.ts";
import type { Bench, Result, Row } from "./report.ts";
import { servingChildren, startRotating, writeList } from "./rotating.ts";
import { freePort, startCurt } from "./servers.ts";
import { DESCRIPTOR_RANGE_LIMIT, lowestAfterWarmUp, requireMinutes, rise, type Sample } from "./soak.ts";
import { startTraffic, type Traffic } from "./traffic.ts";

const MIB = 1024 * 1024;
const MINUTE_MS = 60_000;
const SAMPLE_EVERY_MS = 10_000;
/** With so few requests, all garbage is only collected every two or three minutes. */
const GARBAGE_MS = 3 * MINUTE_MS;
/** A process is killed or stopped, in turns. */
const END_EVERY_MS = 2 * MINUTE_MS;
/** The age at which the memory of replacement processes is compared. */
const COMPARED_AGE_MS = MINUTE_MS;
/** In cores. With more work of other processes, the run is doubtful. */
const DISTURBED_CORES = 0.1;

interface Life {
  readonly pid: number;
  readonly bornMs: number;
  readonly samples: Sample[];
  cpuUs: number;
}

/** Checks that memory and descriptors stay flat while everything rotates, and that nothing is lost. Exit code 1 if not. */
export async function measureRotations({ folder, progress, minutes }: Bench): Promise<Result> {
  requireMinutes(minutes);
  progress(`rotations, ${minutes} minutes`);
  const durationMs = minutes * MINUTE_MS;
  const [database, listFile, backupFolder] = ["rotations.db", "rotations-list", "rotations-backups"].map(
    (name) => join(folder, name),
  ) as [string, string, string];
  const logFile = join(folder, "rotations-log");
  const metricsPort = freePort();
  const adminToken = crypto.randomUUID();
  mkdirSync(backupFolder);
  writeList(listFile, "nothing.example");
  const settings = { HOST: "127.0.0.1", POSTURE: "public", STATS_SHOWN: "all", TRUSTED_PROXIES: "127.0.0.1" };
  const curt = await startCurt(database, {
    logFile,
    settings: {
      ...settings,
      PROCESSES: "2",
      ADMIN_TOKEN: adminToken,
      BLOCKLIST: listFile,
      METRICS_PORT: String(metricsPort),
      BACKUP_DIR: backupFolder,
      BACKUP_EVERY: "2m",
      BACKUP_KEEP: "3",
    },
  });
  const before = { busyUs: machineBusyUs(), own: process.cpuUsage() };
  const traffic = await startTraffic(curt.port);
  const rotating = await startRotating(traffic, { adminToken, listFile });
  const watched = await watch({ supervisor: curt.pid, metricsPort, traffic, durationMs, progress });
  await Promise.all([rotating.stop(), traffic.stop()]);
  const own = process.cpuUsage(before.own);
  const curtUs = sum(watched.lives.map(({ cpuUs }) => cpuUs));
  const otherUs = machineBusyUs() - before.busyUs - own.user - own.system - curtUs;

  /** Reports a failed query and keeps the figures of the hour. */
  async function find<T>(finding: Promise<T>, otherwise: T): Promise<T> {
    return finding.catch((error: unknown) => {
      traffic.surprise(String(error));
      return otherwise;
    });
  }
  progress("looking for lost links and visits");
  const lostLinks = await countLostLinks(traffic);
  const lastMetrics = await scrape(metricsPort);
  await curt.stop();
  const visits = await find(countedVisits(database, settings, traffic.counted), []);
  const checked = await command(["check"], database);
  const restored = await find(
    restoreNewest(backupFolder, join(folder, "restored.db"), traffic.created),
    NOTHING_RESTORED,
  );
  progress("all figures are there");

  const { supervisor, staying, lives } = watched;
  const figures: Figures = {
    "rotations: rise of own memory, MiB": { Curt: riseOf(staying, durationMs, "memoryMib") },
    "rotations: rise of the supervisor's own memory, MiB": {
      Curt: riseOf(supervisor, durationMs, "memoryMib"),
    },
  };
  const logged = readFileSync(logFile, "utf8");
  const lines = (pattern: RegExp) => logged.match(pattern)?.length ?? 0;
  const grownUp = ({ bornMs, samples }: Life) =>
    bornMs === 0 ? undefined : samples.find(({ atMs }) => atMs >= bornMs + COMPARED_AGE_MS);
  const atAge = lives
    .map(grownUp)
    .filter((sample) => sample !== undefined)
    .map(({ memoryMib }) => rounded(memoryMib, 1));
  const none: readonly (readonly [string, number])[] = [
    ["surprises", traffic.surprises.length],
    ["links lost", lostLinks],
    [
      "visits lost",
      sum(visits.map((count, nth) => Math.max(0, (traffic.counted[nth]?.answered ?? 0) - count))),
    ],
    [
      "visits counted twice",
      sum(visits.map((count, nth) => Math.max(0, count - (traffic.counted[nth]?.sent ?? 0)))),
    ],
    ["links missing in the newest backup", restored.missing],
    ["curt check, curt restore and curt check: exit codes", sum([checked, ...restored.codes])],
    ["faults, by the metrics", valueOf(lastMetrics, "curt_faults_total")],
    ["visits without room, by the metrics", valueOf(lastMetrics, "curt_visits_lost_total")],
    ["scrapes that failed or went back", watched.badScrapes],
    ["errors in the log", lines(/"level":"(error|fatal)"/g)],
    ["processes that ended by themselves", lines(/"msg":"a process ended"/g) - watched.ended],
  ];
  const descriptors: readonly (readonly [string, number])[] = [
    ["rise of descriptors", riseOf(staying, durationMs, "descriptors")],
    ["rise of the supervisor's descriptors", riseOf(supervisor, durationMs, "descriptors")],
  ];
  const happened: readonly (readonly [string, number])[] = [
    ["links created", traffic.created.length],
    ["links changed, taken down, blocked and withdrawn", rotating.done.lives],
    ["blocklists reloaded", rotating.done.lists],
    ["processes ended", watched.ended],
    ["backups created", lines(/"a backup was created"/g)],
    ["requests refused by limits", traffic.statuses[429] ?? 0],
    ["visits counted", sum(visits)],
  ];
  const isFine =
    none.every(([, count]) => count === 0) &&
    happened.every(([, count]) => count > 0) &&
    descriptors.every(([, count]) => count <= DESCRIPTOR_RANGE_LIMIT) &&
    Object.keys(figures).every((figure) => isReached(figure as keyof Figures, figures) === true);
  if (!isFine) process.exitCode = 1;
  const row = (what: string, wanted: string, measured: Row[string]): Row => ({
    [`rotations, ${minutes} minutes`]: what,
    wanted,
    measured,
  });
  const otherCores = otherUs / 1000 / durationMs;
  return {
    rows: [
      row("all", "fine", isFine ? "fine" : "not fine"),
      ...none.map(([what, count]) => row(what, "0", count)),
      ...descriptors.map(([what, count]) => row(what, `≤ ${DESCRIPTOR_RANGE_LIMIT}`, count)),
      ...happened.map(([what, count]) => row(what, "> 0", count)),
      row("memory of new processes after a minute, MiB", "", atAge),
      row("requests", "", traffic.requests()),
      row("responses with 503", "", traffic.statuses[503] ?? 0),
      row("connections broken when a process ended", "", traffic.broken()),
      row("cores used by Curt", "", rounded(curtUs / 1000 / durationMs, 2)),
    ],
    rounds: {},
    figures,
    doubts:
      otherCores > DISTURBED_CORES
        ? [
            `Doubtful: other processes kept ${otherCores.toFixed(1)} cores busy. Measure again on a quiet machine.`,
          ]
        : [],
    samplesMb: {
      "process that stays": staying.map(toMb),
      supervisor: supervisor.map(toMb),
    },
  };
}

interface Watched {
  readonly supervisor: number;
  readonly metricsPort: number;
  readonly traffic: Traffic;
  readonly durationMs: number;
  readonly progress: Bench["progress"];
}

/** Samples all processes, scrapes the metrics, and ends a process from time to time, but never the first one. */
async function watch({ supervisor, metricsPort, traffic, durationMs, progress }: Watched) {
  const startMs = performance.now();
  const [first = 0] = servingChildren(supervisor);
  const lives = new Map<number, Life>();
  let [ended, badScrapes, redirects, lastMinute] = [0, 0, 0, 0];
  for (let atMs = 0; atMs < durationMs;) {
    await Bun.sleep(Math.min(SAMPLE_EVERY_MS, durationMs - atMs));
    atMs = performance.now() - startMs;
    const serving = servingChildren(supervisor);
    for (const pid of [supervisor, ...serving]) {
      const seen = look(pid);
      if (seen === undefined) continue;
      const life = lives.get(pid) ?? { pid, bornMs: lives.size < 3 ? 0 : atMs, samples: [], cpuUs: 0 };
      lives.set(pid, life);
      life.cpuUs = seen.cpuUs;
      life.samples.push({ atMs, ...seen });
    }
    const metrics = await scrape(metricsPort);
    const now = valueOf(metrics, "curt_redirects_total");
    if (!(now >= redirects)) badScrapes++;
    redirects = now;
    const other = serving.find((pid) => pid !== first);
    if (atMs > (ended + 1) * END_EVERY_MS && other !== undefined && serving.length > 1) {
      traffic.processEnds();
      process.kill(other, ended % 2 === 0 ? "SIGKILL" : "SIGTERM");
      ended++;
    }
    if (Math.floor(atMs / MINUTE_MS) === lastMinute) continue;
    lastMinute = Math.floor(atMs / MINUTE_MS);
    const last = [supervisor, first].map((pid) => lives.get(pid)?.samples.at(-1));
    const states = last.map(
      (sample) => `${sample?.memoryMib.toFixed(1)} MiB, ${sample?.descriptors} descriptors`,
    );
    progress(
      `${lastMinute} min: ${traffic.requests()} requests; ${states.join("; ")}; ${ended} processes ended`,
    );
  }
  const samplesOf = (pid: number) => lives.get(pid)?.samples ?? [];
  return {
    supervisor: samplesOf(supervisor),
    staying: samplesOf(first),
    lives: [...lives.values()],
    ended,
    badScrapes,
  };
}

/** Undefined if the process has just ended. */
function look(pid: number) {
  try {
    return {
      cpuUs: cpuTimeUs(pid),
      memoryMib: ownMemoryBytes(pid) / MIB,
      descriptors: openDescriptors(pid),
    };
  } catch {
    return undefined;
  }
}

/** Empty without a response. */
async function scrape(port: number): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`, { keepalive: false }).catch(() => undefined);
  return answer?.status === 200 ? answer.text() : "";
}

/** The sum over all labels; not a number if there is no such metric. */
function valueOf(metrics: string, name: string): number {
  const values = [...metrics.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, "gm"))].map(([, value]) =>
    Number(value),
  );
  return values.length === 0 ? Number.NaN : sum(values);
}

function riseOf(samples: readonly Sample[], durationMs: number, what: "memoryMib" | "descriptors"): number {
  return rounded(rise(lowestAfterWarmUp(samples, durationMs, GARBAGE_MS, what), what), 1);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function toMb({ memoryMib }: Sample): number {
  return rounded((memoryMib * MIB) / 1e6, 1);
}
