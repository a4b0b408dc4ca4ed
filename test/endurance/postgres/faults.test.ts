import { afterAll, beforeAll, expect, test } from "bun:test";

import { Client } from "pg";

import { testOnLinux } from "../../linux.ts";
import { type PostgresServer, urlOf } from "../../postgres.ts";
import { type Proxy, startProxy } from "../../proxy.ts";
import { openStoreOf, type Running, startHere } from "../../service.ts";
import { newLink } from "../../stores/links.ts";
import { untilCounted, visit } from "../../visits/visits.ts";
import { type PostgresCluster, startCluster } from "./cluster.ts";

/**
 * What is promised is 2 s for an answer, and to be back within 1 s, but this machine may be busy. Without limits, either would take
 * many minutes.
 */
const BOUND_MS = 60_000;
/** Not a second, as usual: what the database can answer must not be refused because this machine is busy. */
const LIMIT_MS = 4000;
const PAUSE_MS = 10;
const MAX_WAITS = 12_000;
/** Nobody has looked them up, so they are in no memory. */
const COLD_LINKS = 20_000;
/** Room for PostgreSQL's log, whose files have one megabyte each, and soon none for links. */
const ROOM_BYTES = 1_200_000;
const URL_LENGTH = 1900;

let cluster: PostgresCluster;
let primary: PostgresServer;
let standby: PostgresServer;
/** Between Curt and the primary. */
let proxy: Proxy;
let curt: Running;
let visits = 0;
let cold = 0;
/** Codes that were answered with 201, each with its URL. */
const made = new Map<string, string>();
let asked = 0;

beforeAll(async () => {
  cluster = await startCluster(1);
  [primary, standby] = cluster.servers as [PostgresServer, PostgresServer];
  proxy = await startProxy(primary.port);
  await cluster.url("away");
  const settings = { DATABASE_URL: urlOf([proxy.port, standby.port], "away") };
  curt = await startHere(settings, { limits: { core: { limitMs: LIMIT_MS } } });
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
  const original_url = `https://example.com/${asked++}/`.padEnd(URL_LENGTH, "x");
  const response = await curt.shorten({ original_url });
  const { data } = (await response.clone().json()) as { data?: { code: string } };
  if (data !== undefined) made.set(data.code, original_url);
  return response;
}

/** What visitors do, again and again, and the status that is right as long as the database can be used. */
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
  readonly begin: () => unknown;
  readonly end: () => unknown;
  /** What is answered 503 at some time, and what may be. */
  readonly refused: readonly Name[];
  readonly mayBeRefused?: readonly Name[];
  readonly onLinux?: true;
}

/** All that needs the database. */
const UNCACHED = NAMES.filter((name) => name !== "cached");
let others: Client[] = [];
let cutting: NodeJS.Timeout | undefined;

const FAULTS: Readonly<Record<string, Fault>> = {
  "the primary is killed, and started later": {
    begin: () => primary.kill(),
    end: () => primary.restart(),
    refused: UNCACHED,
  },
  "the primary is restarted": {
    begin: () => primary.restart(),
    end() {},
    refused: [],
    mayBeRefused: UNCACHED,
  },
  "the primary is frozen": {
    begin: () => primary.freeze(),
    end: () => primary.thaw(),
    refused: UNCACHED,
  },
  // Some are only found out while the next fault is under way.
  "connections fall silent": {
    begin: () => proxy.silence(),
    end() {},
    refused: [],
    mayBeRefused: UNCACHED,
  },
  "connections are cut in flight, again and again": {
    begin: () => (cutting = setInterval(proxy.reset, 5 * PAUSE_MS)),
    end: () => clearInterval(cutting),
    refused: [],
    mayBeRefused: UNCACHED,
  },
  "the network is lost": {
    begin() {
      proxy.lead(undefined);
      proxy.reset();
    },
    end: () => proxy.lead(primary.port),
    refused: UNCACHED,
  },
  "the standby is frozen": {
    begin: () => standby.freeze(),
    end: () => standby.thaw(),
    refused: ["create"],
  },
  "the database's disk is full": {
    begin: () => primary.limitFiles(ROOM_BYTES),
    end: () => primary.limitFiles(undefined),
    refused: ["create"],
    onLinux: true,
  },
  "each query takes 200 ms": {
    begin: () => proxy.delay(100),
    end: () => proxy.delay(0),
    refused: [],
  },
  "all connections are taken": {
    async begin() {
      proxy.lead(undefined);
      proxy.reset();
      // So that it does not take long.
      await primary.restart(["max_connections=30"]);
      others = await takeAllConnections();
      proxy.lead(primary.port);
    },
    end: () => Promise.all(others.map((client) => client.end())),
    refused: UNCACHED,
  },
  // The last one: it kills the primary permanently.
  "the primary is lost, and the standby promoted": {
    begin: () => primary.kill(),
    async end() {
      await standby.ask("ALTER SYSTEM SET synchronous_standby_names = ''");
      await standby.ask("SELECT pg_reload_conf()");
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

/** Asks all the time until it is stopped. Rejects if an answer is wrong. */
function startAsking() {
  const tallies = new Map<Name, { answers: number; refused: number; wellMs: number }>();
  const asking = { isOver: false, longestMs: 0 };

  async function goOn(name: Name): Promise<void> {
    const [status, request] = REQUESTS[name];
    const tally = { answers: 0, refused: 0, wellMs: 0 };
    tallies.set(name, tally);
    while (!asking.isOver) {
      const sinceMs = performance.now();
      const response = await request();
      asking.longestMs = Math.max(asking.longestMs, performance.now() - sinceMs);
      tally.answers++;
      // A visit has thrown if it does not lead anywhere.
      const told = response instanceof Response ? response.status : status;
      if (told === 503) {
        tally.refused++;
        expect([name, (response as Response).headers.get("retry-after")]).toEqual([name, expect.any(String)]);
      } else {
        expect([name, told]).toEqual([name, status]);
        tally.wellMs = sinceMs;
      }
      await Bun.sleep(PAUSE_MS);
    }
  }

  const all = Promise.all(NAMES.map(goOn));
  all.catch(() => (asking.isOver = true));
  const tallyOf = (name: Name) => tallies.get(name) ?? { answers: 0, refused: 0, wellMs: 0 };
  return {
    asking,
    tallyOf,
    async until(isSo: (tally: ReturnType<typeof tallyOf>) => boolean, names: readonly Name[]) {
      for (let waits = 0; !asking.isOver && !names.every((name) => isSo(tallyOf(name))); waits++) {
        if (waits > MAX_WAITS) throw new Error(`waited too long: ${JSON.stringify([...tallies])}`);
        await Bun.sleep(PAUSE_MS);
      }
    },
    async stop() {
      asking.isOver = true;
      await all;
    },
  };
}

for (const [name, { begin, end, refused, mayBeRefused = refused, onLinux }] of Object.entries(FAULTS)) {
  const testHere = onLinux ? testOnLinux : test;
  testHere(
    `${name}: cached links redirect, what cannot be known is 503, and it is over by itself`,
    async () => {
      const { asking, tallyOf, until, stop } = startAsking();
      await until(({ answers }) => answers > 5, NAMES);
      await begin();
      const answered = NAMES.map((one) => tallyOf(one).answers);
      await until(({ refused: count }) => count > 0, refused);
      await until(({ answers }) => answers > Math.max(...answered) + 3, ["cached"]);
      await until(({ answers }) => answers > 8, NAMES);
      await end();
      const endMs = performance.now();
      await until(({ wellMs }) => wellMs > endMs, NAMES);
      const backMs = performance.now() - endMs;
      await stop();
      console.log(
        `When ${name}, the slowest answer took ${Math.round(asking.longestMs)} ms. All was well ${Math.round(backMs)} ms later.`,
      );
      for (const one of NAMES)
        if (!mayBeRefused.includes(one)) expect([one, tallyOf(one).refused]).toEqual([one, 0]);
      expect(asking.longestMs).toBeLessThan(BOUND_MS);
      expect(backMs).toBeLessThan(BOUND_MS);
    },
  );
}

test("after all that, every visit is counted once, and every link is there that was answered", async () => {
  await untilCounted(curt, "cached", visits);
  for (const [code, url] of made)
    expect([code, (await curt.fetch(`/${code}`)).headers.get("location")]).toEqual([code, url]);
});
