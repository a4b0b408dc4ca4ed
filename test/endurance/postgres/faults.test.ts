import { afterAll, beforeAll, expect, test } from "bun:test";

import { Client } from "pg";

import { newLink } from "../../stores/links.ts";
import { testOnLinux } from "../../support/linux.ts";
import { type PostgresServer, urlOf } from "../../support/postgres.ts";
import { type Proxy, startProxy } from "../../support/proxy.ts";
import { sendUntilTaken } from "../../support/retry.ts";
import { openStoreOf, outcomeOf, type RunningService, startService } from "../../support/service.ts";
import { untilCounted, visit } from "../../visits/visits.ts";
import { type PostgresCluster, startCluster } from "./cluster.ts";

/**
 * A response should take 2 s at most, and a recovery 1 s, but this machine may be busy. Without limits, both would take many
 * minutes.
 */
const BOUND_MS = 60_000;
/** More than the usual second: a busy machine must not cause refusals. */
const LIMIT_MS = 4000;
const PAUSE_MS = 10;
const MAX_WAITS = 12_000;
/** Links that no process has in memory. */
const COLD_LINKS = 20_000;
/** Enough for PostgreSQL's log, whose files have one megabyte each, but soon too little for links. */
const ROOM_BYTES = 1_200_000;
const URL_LENGTH = 1900;

let cluster: PostgresCluster;
let primary: PostgresServer;
let standby: PostgresServer;
/** Between Curt and the primary. */
let proxy: Proxy;
let curt: RunningService;
let visits = 0;
let cold = 0;
/** Codes confirmed with 201, each with its URL. */
const confirmed = new Map<string, string>();
let creates = 0;

beforeAll(async () => {
  cluster = await startCluster(1);
  [primary, standby] = cluster.servers as [PostgresServer, PostgresServer];
  proxy = await startProxy(primary.port);
  await cluster.url("away");
  const settings = { DATABASE_URL: urlOf([proxy.port, standby.port], "away") };
  curt = await startService(settings, { limits: { core: { limitMs: LIMIT_MS } } });
  curt.expectFaults();
  await using store = await openStoreOf(curt);
  await store.insert([newLink("cached")]);
  for (let nth = 0; nth < COLD_LINKS; nth += 1000)
    await store.insert(Array.from({ length: 1000 }, (_, more) => newLink(`cold${nth + more}`)));
  await visit(curt, "cached");
  visits++;
});
afterAll(async () => {
  await curt[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
});

async function create(): Promise<Response> {
  const original_url = `https://example.com/${creates++}/`.padEnd(URL_LENGTH, "x");
  const response = await curt.shorten({ original_url });
  const { data } = (await response.clone().json()) as { data?: { code: string } };
  if (data !== undefined) confirmed.set(data.code, original_url);
  return response;
}

/** Requests that are repeated, each with its status as long as the database works. */
const REQUESTS = {
  cached: [302, () => visit(curt, "cached").then(() => visits++)],
  cold: [302, () => curt.fetch(`/cold${cold++}`)],
  missing: [404, () => curt.fetch("/missing")],
  show: [200, () => curt.fetch("/api/v1/links/cached")],
  create: [201, create],
} as const;
type Name = keyof typeof REQUESTS;
const NAMES = Object.keys(REQUESTS) as Name[];

interface Fault {
  readonly start: () => unknown;
  readonly end: () => unknown;
  /** Requests that get 503 at some time, and requests that may. */
  readonly refused: readonly Name[];
  readonly mayBeRefused?: readonly Name[];
  readonly onLinux?: true;
}

/** Requests that need the database. */
const UNCACHED = NAMES.filter((name) => name !== "cached");
let others: Client[] = [];
let cutting: NodeJS.Timeout | undefined;

const FAULTS: Readonly<Record<string, Fault>> = {
  "the primary is killed, and started later": {
    start: () => primary.kill(),
    end: () => primary.restart(),
    refused: UNCACHED,
  },
  "the primary is restarted": {
    start: () => primary.restart(),
    end() {},
    refused: [],
    mayBeRefused: UNCACHED,
  },
  "the primary is frozen": {
    start: () => primary.freeze(),
    end: () => primary.thaw(),
    refused: UNCACHED,
  },
  // Some of them are only detected during the next fault.
  "connections fall silent": {
    start: () => proxy.silence(),
    end() {},
    refused: [],
    mayBeRefused: UNCACHED,
  },
  "connections are cut in flight, again and again": {
    start: () => (cutting = setInterval(proxy.reset, 5 * PAUSE_MS)),
    end: () => clearInterval(cutting),
    refused: [],
    mayBeRefused: UNCACHED,
  },
  "the network is lost": {
    start() {
      proxy.lead(undefined);
      proxy.reset();
    },
    end: () => proxy.lead(primary.port),
    refused: UNCACHED,
  },
  "the standby is frozen": {
    start: () => standby.freeze(),
    end: () => standby.thaw(),
    refused: ["create"],
  },
  "the database's disk is full": {
    start: () => primary.limitFiles(ROOM_BYTES),
    end: () => primary.limitFiles(undefined),
    refused: ["create"],
    onLinux: true,
  },
  "each query takes 200 ms": {
    start: () => proxy.delay(100),
    end: () => proxy.delay(0),
    refused: [],
  },
  "all connections are taken": {
    async start() {
      proxy.lead(undefined);
      proxy.reset();
      // Few connections, so that it doesn't take long.
      await primary.restart(["max_connections=30"]);
      others = await takeAllConnections();
      proxy.lead(primary.port);
    },
    end: () => Promise.all(others.map((client) => client.end())),
    refused: UNCACHED,
  },
  // The last one: it kills the primary permanently.
  "the primary is lost, and the standby promoted": {
    start: () => primary.kill(),
    async end() {
      await standby.query("ALTER SYSTEM SET synchronous_standby_names = ''");
      await standby.query("SELECT pg_reload_conf()");
      await cluster.promote([standby]);
    },
    refused: UNCACHED,
  },
};

async function takeAllConnections(): Promise<Client[]> {
  const clients: Client[] = [];
  for (;;) {
    const client = new Client(urlOf([primary.port], "away"));
    client.on("error", () => {});
    const isConnected = await client.connect().then(
      () => true,
      () => false,
    );
    if (!isConnected) return clients;
    clients.push(client);
  }
}

/** Sends requests until it is stopped. Rejects if a response is wrong. */
function startRequests() {
  const tallies = new Map<Name, { answers: number; refused: number; wellMs: number }>();
  const run = { isOver: false, longestMs: 0 };

  async function repeat(name: Name): Promise<void> {
    const [status, request] = REQUESTS[name];
    const tally = { answers: 0, refused: 0, wellMs: 0 };
    tallies.set(name, tally);
    while (!run.isOver) {
      const sinceMs = performance.now();
      const response = await request();
      run.longestMs = Math.max(run.longestMs, performance.now() - sinceMs);
      tally.answers++;
      // A visit throws if it isn't redirected.
      const received = response instanceof Response ? response.status : status;
      if (received === 503) {
        tally.refused++;
        expect([name, (response as Response).headers.get("retry-after")]).toEqual([name, expect.any(String)]);
      } else {
        expect([name, received]).toEqual([name, status]);
        tally.wellMs = sinceMs;
      }
      await Bun.sleep(PAUSE_MS);
    }
  }

  const all = Promise.all(NAMES.map(repeat));
  all.catch(() => (run.isOver = true));
  const tallyOf = (name: Name) => tallies.get(name) ?? { answers: 0, refused: 0, wellMs: 0 };
  return {
    run,
    tallyOf,
    async until(isSo: (tally: ReturnType<typeof tallyOf>) => boolean, names: readonly Name[]) {
      for (let waits = 0; !run.isOver && !names.every((name) => isSo(tallyOf(name))); waits++) {
        if (waits > MAX_WAITS) throw new Error(`waited too long: ${JSON.stringify([...tallies])}`);
        await Bun.sleep(PAUSE_MS);
      }
    },
    async stop() {
      run.isOver = true;
      await all;
    },
  };
}

for (const [name, { start, end, refused, mayBeRefused = refused, onLinux }] of Object.entries(FAULTS)) {
  const testHere = onLinux ? testOnLinux : test;
  testHere(
    `when ${name}, cached links redirect, other requests get the right response or 503, and service recovers`,
    async () => {
      const { run, tallyOf, until, stop } = startRequests();
      await until(({ answers }) => answers > 5, NAMES);
      await start();
      const before = NAMES.map((one) => tallyOf(one).answers);
      await until(({ refused: count }) => count > 0, refused);
      await until(({ answers }) => answers > Math.max(...before) + 3, ["cached"]);
      await until(({ answers }) => answers > 8, NAMES);
      await end();
      const endMs = performance.now();
      await until(({ wellMs }) => wellMs > endMs, NAMES);
      const backMs = performance.now() - endMs;
      await stop();
      console.log(
        `When ${name}, the slowest answer took ${Math.round(run.longestMs)} ms. All was well ${Math.round(backMs)} ms later.`,
      );
      for (const one of NAMES)
        if (!mayBeRefused.includes(one)) expect([one, tallyOf(one).refused]).toEqual([one, 0]);
      expect(run.longestMs).toBeLessThan(BOUND_MS);
      expect(backMs).toBeLessThan(BOUND_MS);
    },
  );
}

test("after all these faults, every visit counts once and every confirmed link exists", async () => {
  await untilCounted(curt, "cached", visits);
  for (const [code, url] of confirmed)
    expect(await outcomeOf(sendUntilTaken(() => curt.fetch(`/${code}`)))).toBe(`302 ${url}`);
});
