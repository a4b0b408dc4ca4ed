import { closeSync, fsyncSync, openSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";

import { CHHOTO_CREATE } from "./chhoto.ts";
import type { Task } from "./generator.ts";
import { generated, visits, visitsOnce } from "./load.ts";
import { cpuUs, inTurns, measure, medianOf, perSecond, type Round, rounded } from "./measure.ts";
import type { Bench, Result } from "./report.ts";
import type { Server } from "./servers.ts";

const ROUNDS = 3;
const ROUND_MS = 4000;
const REDIRECTS_MS = 2000;
const SYNCS_MS = 1000;
/** Growth of SQLite's write-ahead log for a small change: a page and its frame header. */
const FRAME = new Uint8Array(4096 + 24);
/** SQLite restarts its log after about this many frames. */
const FRAMES = 1000;

interface CreateRound extends Round {
  /** Measured just before. */
  readonly diskSyncsPerSecond?: number;
}

/** Measures durable creates of one caller at a time and of many, with the reference's redirect beside them. */
export async function measureCreates({ folder, stage, progress }: Bench): Promise<Result> {
  const { curt, reference, chhotos, linksFile } = await stage();
  progress("creates");
  const creates = async (server: Server, task: Task): Promise<CreateRound> => {
    const diskSyncsPerSecond = rounded(syncsPerSecond(folder), 1);
    return { ...(await measure(server, generated(ROUND_MS, task))), diskSyncsPerSecond };
  };
  const contestants: Record<string, () => Promise<CreateRound>> = {};
  for (const connections of [1, 32]) {
    contestants[nameOf(curt, connections)] = () => creates(curt, { kind: "creates", connections });
    for (const chhoto of chhotos)
      contestants[nameOf(chhoto, connections)] = () =>
        creates(chhoto, { kind: "same", request: CHHOTO_CREATE, status: 201, connections });
  }
  const redirects = visits(REDIRECTS_MS, { linksFile, status: 302 });
  await visitsOnce(linksFile)(reference);
  const turns = await inTurns<CreateRound, string>(ROUNDS, {
    ...contestants,
    redirect: () => measure(reference, redirects),
  });
  const { redirect = [], ...cases } = turns;
  const rows = Object.entries(cases).map(([name, rounds]) => ({
    "durable creates": name,
    "CPU per create, µs": medianOf(rounds, cpuUs),
    [`in redirects of ${reference.name}`]: medianOf(rounds, cpuUs) / medianOf(redirect, cpuUs),
    "per disk sync": medianOf(rounds, perSync),
    "creates/s": medianOf(rounds, perSecond),
    "creates/s of each round": rounds.map(perSecond),
  }));
  const figure = (connections: number, value: (round: CreateRound) => number) =>
    Object.fromEntries(
      [curt, ...chhotos].map((server) => [
        server.name,
        medianOf(cases[nameOf(server, connections)] ?? [], value),
      ]),
    );
  return {
    rows,
    rounds: { creates: turns },
    figures: {
      "durable creates/s, 32 connections": figure(32, perSecond),
      "durable creates/s, 1 connection": figure(1, perSecond),
      "durable creates, 1 connection, per disk sync": figure(1, perSync),
    },
  };
}

function nameOf({ name }: Server, connections: number): string {
  return `${name}, ${connections} connection${connections === 1 ? "" : "s"}`;
}

function perSync(round: CreateRound): number {
  return perSecond(round) / (round.diskSyncsPerSecond ?? Number.NaN);
}

/** Small writes per second, each synced before the next, on this disk: the bound of lone creates. */
function syncsPerSecond(folder: string): number {
  const path = join(folder, "syncs");
  const file = openSync(path, "w");
  const startMs = performance.now();
  let elapsedMs = 0;
  let syncs = 0;
  while (elapsedMs < SYNCS_MS) {
    writeSync(file, FRAME, 0, FRAME.length, (syncs % FRAMES) * FRAME.length);
    fsyncSync(file);
    syncs++;
    elapsedMs = performance.now() - startMs;
  }
  closeSync(file);
  unlinkSync(path);
  return (syncs / elapsedMs) * 1000;
}
