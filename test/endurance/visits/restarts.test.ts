import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";

import { type Program, startService, startProgram, temporaryFolder } from "../../support/service.ts";
import { linkOf, WINDOWS_CHROME } from "../../visits/visits.ts";

/** `REDIRECTS=1000000 npx bun test test/endurance/visits/restarts.test.ts` runs as many as bench/README.md states. */
const REDIRECTS = Number(process.env["REDIRECTS"] ?? 20_000);
const LIMIT_MS = 300_000 + REDIRECTS;
const PROCESSES = 4;
/** At least this many processes end under load. */
const ENDS = 3;
const CONNECTIONS = 32;
const CODES = Array.from({ length: 50 }, (_, nth) => `r${nth}`);

interface VisitCounts {
  sent: number;
  answered: number;
}

/** Visits until enough responses arrived, over connections that are reopened when they are closed. */
async function fire(
  origin: string,
  isEnough: (answered: number) => boolean,
): Promise<Map<string, VisitCounts>> {
  const { hostname, port } = new URL(origin);
  const counts = new Map<string, VisitCounts>(CODES.map((code) => [code, { sent: 0, answered: 0 }]));
  let answered = 0;
  let turn = 0;

  function connection(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    let current: VisitCounts | undefined;
    let received = "";
    function next(socket: { write(text: string): number; end(): unknown }): void {
      if (isEnough(answered)) return void socket.end();
      const code = CODES[turn++ % CODES.length] ?? "";
      current = counts.get(code);
      if (current !== undefined) current.sent++;
      socket.write(`GET /${code}/ HTTP/1.1\r\nHost: x\r\nUser-Agent: ${WINDOWS_CHROME}\r\n\r\n`);
    }
    Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        open: next,
        data(socket, bytes) {
          received += bytes.toString("latin1");
          if (!received.endsWith("\r\n\r\n")) return;
          if (!received.startsWith("HTTP/1.1 302")) throw new Error(received);
          const isLast = /^connection: close/im.test(received);
          received = "";
          if (current !== undefined) current.answered++;
          current = undefined;
          answered++;
          if (isLast) socket.end();
          else next(socket);
        },
        close: () => resolve(),
        connectError: () => resolve(),
      },
    }).catch(() => resolve());
    return promise;
  }

  async function visitor(): Promise<void> {
    while (!isEnough(answered)) {
      await connection();
      await Bun.sleep(1);
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, visitor));
  return counts;
}

/** Ends one child after the other until it is stopped; the supervisor restarts them. */
function harass(program: Program, signal: NodeJS.Signals) {
  const stopping = new AbortController();
  let ended = 0;
  const pids = () =>
    program.logged.flatMap((line) => {
      const {
        children = [],
        child,
        msg,
      } = JSON.parse(line) as { children?: number[]; child?: number; msg: string };
      return msg.includes("another process replaced it") && child !== undefined ? [child] : children;
    });
  const gone = new Set<number>();
  const done = (async () => {
    while (!stopping.signal.aborted) {
      await Bun.sleep(100 + 400 * Math.random());
      const living = pids().filter((pid) => !gone.has(pid));
      const pid = living[Math.floor(Math.random() * living.length)];
      // One process must stay to respond.
      if (pid === undefined || living.length < 2 || stopping.signal.aborted) continue;
      gone.add(pid);
      process.kill(pid, signal);
      ended++;
    }
  })();
  return {
    ended: () => ended,
    async stop() {
      stopping.abort();
      await done;
    },
  };
}

function journals(folder: string): string[] {
  return readdirSync(join(folder, "curt.db-visits")).filter((name) => name.endsWith(".visits"));
}

async function visitWhileEnding(signal: NodeJS.Signals) {
  using folder = temporaryFolder();
  let counts: Map<string, VisitCounts>;
  {
    await using program = await startProgram({ PROCESSES: String(PROCESSES) }, { folder: folder.path });
    for (const custom_code of CODES) {
      expect((await program.shorten({ original_url: "https://example.com/", custom_code })).status).toBe(201);
    }
    const harassment = harass(program, signal);
    counts = await fire(program.origin, (answered) => answered >= REDIRECTS && harassment.ended() >= ENDS);
    await harassment.stop();
  }
  {
    // The next start folds the segments of killed processes: those of its own slot when it stops, the others before.
    await using _ = await startService({}, { folder: folder.path });
    while (journals(folder.path).some((name) => !name.startsWith("0-"))) await Bun.sleep(10);
  }
  expect(journals(folder.path)).toEqual([]);
  await using last = await startService({}, { folder: folder.path });
  const links: number[] = [];
  // One after another: a single client gets only a share of the views' queue.
  for (const code of CODES) links.push((await linkOf(last, code))["visits"] as number);
  return { links, counts: CODES.map((code) => counts.get(code) ?? { sent: 0, answered: 0 }) };
}

test(
  "counts are exact while four processes are stopped and restarted",
  async () => {
    const { links, counts } = await visitWhileEnding("SIGTERM");
    expect(links).toEqual(counts.map(({ answered }) => answered));
    expect(links.reduce((sum, visits) => sum + visits, 0)).toBeGreaterThanOrEqual(REDIRECTS);
  },
  LIMIT_MS,
);

test(
  "every answered visit counts, and none twice, while four processes are killed",
  async () => {
    const { links, counts } = await visitWhileEnding("SIGKILL");
    links.forEach((visits, nth) => {
      const { sent = 0, answered = 0 } = counts[nth] ?? {};
      expect(visits).toBeGreaterThanOrEqual(answered);
      expect(visits).toBeLessThanOrEqual(sent);
    });
  },
  LIMIT_MS,
);
