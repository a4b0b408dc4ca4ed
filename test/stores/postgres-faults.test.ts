import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { Client } from "pg";

import { StoreUnavailable } from "../../src/links/store.ts";
import type { PostgresAddress } from "../../src/settings/database-url.ts";
import { type Database, type DatabaseOptions, openDatabase } from "../../src/store/postgres/database.ts";
import { testOnLinux } from "../linux.ts";
import { type PostgresCluster, startCluster } from "../postgres-cluster.ts";
import { addressOf, type PostgresServer, startPostgres, urlOf } from "../postgres.ts";
import { startProxy } from "../proxy.ts";

/** No statement takes longer, whatever happens. Its limit is 1 s; the rest is for busy machines. */
const BOUND_MS = 5000;
/** Until a database is back. */
const MAX_TRIES = 1500;
const TRY_MS = 10;

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres(["max_connections=20"]);
  const database = openDatabase(await server.address());
  await database.run("CREATE TABLE rows (n integer)");
  await database.close();
});
afterAll(() => server[Symbol.asyncDispose]());

function open(address: PostgresAddress, options?: DatabaseOptions) {
  const database = openDatabase(address, options);
  return Object.assign(database, { [Symbol.asyncDispose]: () => database.close() });
}

/** Why it is unavailable. */
async function refusal(work: Promise<unknown>): Promise<string> {
  const sinceMs = performance.now();
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(performance.now() - sinceMs).toBeLessThan(BOUND_MS);
  expect(error).toBeInstanceOf(StoreUnavailable);
  return (error as Error).message;
}

/** Tries until it works. Each time before, it is unavailable. */
async function untilBack<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    try {
      return await work();
    } catch (error) {
      expect(error).toBeInstanceOf(StoreUnavailable);
      await Bun.sleep(TRY_MS);
    }
  }
  throw new Error("it did not come back");
}

/** Until it is known that no server can be used. */
async function untilAway(database: Database): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const reason = await database.run("SELECT 1").then(() => "", String);
    if (reason.includes("No server")) return;
    await Bun.sleep(TRY_MS);
  }
  throw new Error("it did not go away");
}

async function count(database: Database): Promise<number> {
  const { rows } = await database.run<{ count: number }>("SELECT count(*) FROM rows");
  return rows[0]?.count ?? 0;
}

describe("one server", () => {
  test("killed: unavailable, and back once it is restarted", async () => {
    await using database = open(await server.address());
    await database.run("SELECT 1");
    const running = refusal(database.run("SELECT pg_sleep(0.5)"));
    await server.kill();
    await running;
    await untilAway(database);
    await server.restart();
    await untilBack(() => database.run("SELECT 1"));
  });

  test("frozen: unavailable after a moment, then at once, and back once it is thawed", async () => {
    await using database = open(await server.address());
    await database.run("SELECT 1");
    server.freeze();
    try {
      await Promise.all(Array.from({ length: 20 }, () => refusal(database.run("SELECT 1"))));
      await untilAway(database);
      // Each would take a second otherwise.
      for (let nth = 0; nth < 1000; nth++) await refusal(database.run("SELECT 1"));
    } finally {
      server.thaw();
    }
    await untilBack(() => database.run("SELECT 1"));
  });

  test("frozen before the first connection: unavailable, and back once it is thawed", async () => {
    const address = await server.address();
    server.freeze();
    await using database = open(address);
    try {
      await refusal(database.run("SELECT 1"));
    } finally {
      server.thaw();
    }
    await untilBack(() => database.run("SELECT 1"));
  });

  test("away: it is tried by one connection at a time, and is not stormed when it is back", async () => {
    await using proxy = await startProxy(server.port);
    await using database = open(addressOf(urlOf([proxy.port], "curt")), { connections: 4 });
    await database.run("SELECT 1");
    proxy.lead(undefined);
    proxy.reset();
    await untilAway(database);
    const before = proxy.made;
    const sinceMs = performance.now();
    let elapsedMs = 0;
    for (; elapsedMs < 600; elapsedMs = performance.now() - sinceMs) {
      for (let nth = 0; nth < 100; nth++) await refusal(database.run("SELECT 1"));
      await Bun.sleep(TRY_MS);
    }
    // Every 100 ms, with TLS and without.
    expect(proxy.made - before).toBeLessThanOrEqual(2 * (elapsedMs / 100 + 2));
    proxy.lead(server.port);
    const atReturn = proxy.made;
    await untilBack(() => Promise.all(Array.from({ length: 50 }, () => database.run("SELECT 1"))));
    // Each twice, because this server has no TLS.
    expect(proxy.made - atReturn).toBeLessThanOrEqual(2 * (4 + 1) + 2);
  });

  test("connections reset in flight: unavailable, and back at once; a transaction is rolled back", async () => {
    await using proxy = await startProxy(server.port);
    await using database = open(addressOf(urlOf([proxy.port], "curt")));
    const before = await count(database);
    const running = refusal(database.run("SELECT pg_sleep(0.5)"));
    const changing = refusal(
      database.transaction(async (run) => {
        await run("INSERT INTO rows VALUES (1)");
        proxy.reset();
        await run("INSERT INTO rows VALUES (2)");
      }),
    );
    await Promise.all([running, changing]);
    expect(await untilBack(() => count(database))).toBe(before);
  });

  test("connections that fall silent are let go", async () => {
    await using proxy = await startProxy(server.port);
    await using database = open(addressOf(urlOf([proxy.port], "curt")), { connections: 1 });
    await database.run("SELECT 1");
    proxy.silence();
    await refusal(database.run("SELECT 1"));
    await untilBack(() => database.run("SELECT 1"));
  });

  test("a slow one, 200 ms a query, is used all the same", async () => {
    await using proxy = await startProxy(server.port);
    proxy.delay(100);
    await using database = open(addressOf(urlOf([proxy.port], "curt")));
    await untilBack(() => database.run("SELECT 1"));
    for (let nth = 0; nth < 3; nth++) await database.run("SELECT 1");
  });

  test("all of its connections taken: who has one goes on, who has none is unavailable until there is one", async () => {
    await using early = open(await server.address(), { connections: 2 });
    await early.run("SELECT 1");
    const others: Client[] = [];
    for (;;) {
      const client = new Client(await server.url());
      client.on("error", () => {});
      const isFull = await client.connect().then(
        () => false,
        () => true,
      );
      if (isFull) break;
      others.push(client);
    }
    await using late = open(await server.address(), { connections: 1 });
    expect(await refusal(late.run("SELECT 1"))).toContain("too many clients");
    expect(await refusal(late.run("SELECT 1"))).toContain("too many clients");
    await Promise.all([1, 2, 3].map(() => early.run("SELECT pg_sleep(0.2)")));
    await Promise.all(others.map((client) => client.end()));
    await untilBack(() => late.run("SELECT 1"));
  });

  test("one that takes no changes is not used until it does", async () => {
    await using database = open(await server.address());
    await database.run("SELECT 1");
    await server.ask("ALTER SYSTEM SET default_transaction_read_only = on");
    await server.ask("SELECT pg_reload_conf()");
    await untilAway(database);
    await server.ask("ALTER SYSTEM RESET default_transaction_read_only");
    await server.ask("SELECT pg_reload_conf()");
    await untilBack(() => database.run("INSERT INTO rows VALUES (3)"));
  });
});

describe("a full disk", () => {
  testOnLinux("for data: changes are unavailable, look-ups are not, and it recovers by itself", async () => {
    await using database = open(await server.address());
    const room = 4_000_000;
    const fill = () => database.run("INSERT INTO rows SELECT 1 FROM generate_series(1, 20000)");
    server.limitFiles(room);
    let tries = 0;
    for (; (await fill().then(Boolean, () => false)) && tries < MAX_TRIES; tries++);
    expect(await refusal(fill())).toContain("could not extend");
    expect(await count(database)).toBeGreaterThanOrEqual(20_000 * tries);
    server.limitFiles(undefined);
    await untilBack(fill);
  });

  testOnLinux("for PostgreSQL's log: it stops, and is used again once it is started with room", async () => {
    await using database = open(await server.address());
    const before = await count(database);
    server.limitFiles(1);
    await refusal(database.run("INSERT INTO rows VALUES (6)"));
    await untilAway(database);
    await server.restart();
    expect(await untilBack(() => count(database))).toBe(before);
  });
});

describe("statements", () => {
  test("a statement that takes too long is unavailable, and the server does not go on with it", async () => {
    await using database = open(await server.address());
    await refusal(database.run("SELECT pg_sleep(60)"));
    await refusal(database.transaction((run) => run("SELECT pg_sleep(61)")));
    const running = "SELECT FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(6%' AND state = 'active'";
    for (let tries = 0; (await server.ask(running)).length > 0; tries++) {
      expect(tries).toBeLessThan(MAX_TRIES);
      await Bun.sleep(TRY_MS);
    }
  });

  test("work that nobody waits for may take longer", async () => {
    await using database = open(await server.address(), { limitMs: 300 });
    await refusal(database.run("SELECT pg_sleep(0.5)"));
    const patient = database.within(60_000);
    await patient.run("SELECT pg_sleep(0.5)");
    await patient.transaction((run) => run("SELECT pg_sleep(0.5)"));
    await refusal(database.run("SELECT pg_sleep(0.5)"));
  });

  test("a transaction that waits for something else is let go in time", async () => {
    await using database = open(await server.address(), { connections: 1, limitMs: 300 });
    const before = await count(database);
    const { promise: never } = Promise.withResolvers<void>();
    await refusal(
      database.transaction(async (run) => {
        await run("INSERT INTO rows VALUES (4)");
        await never;
      }),
    );
    expect(await untilBack(() => count(database))).toBe(before);
  });

  test("mistakes are not taken for an unavailable store, and the connection stays", async () => {
    await using database = open(await server.address(), { connections: 1 });
    const pid = async () => (await database.run("SELECT pg_backend_pid() AS pid")).rows;
    const before = await pid();
    for (const mistake of ["SELECT 1 / 0", "SELECT * FROM missing", "SELEKT", "SELECT 'a'::integer"]) {
      const error = await database.run(mistake).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(Error);
      expect(error).not.toBeInstanceOf(StoreUnavailable);
    }
    expect(await pid()).toEqual(before);
  });

  test("a transaction is not committed after a failed statement, even if its work goes on", async () => {
    await using database = open(await server.address(), { connections: 1 });
    const before = await count(database);
    const error = await database
      .transaction(async (run) => {
        await run("INSERT INTO rows VALUES (5)");
        await run("SELECT 1 / 0").catch(() => {});
      })
      .catch((reason: unknown) => reason);
    expect(String(error)).toContain("division by zero");
    expect(await count(database)).toBe(before);
  });

  test("no more than some wait for a connection, and not for long", async () => {
    await using database = open(await server.address(), { connections: 1 });
    await database.run("SELECT 1");
    const busy = database.within(60_000).run("SELECT pg_sleep(1)");
    const reasons = await Promise.all(Array.from({ length: 1200 }, () => refusal(database.run("SELECT 1"))));
    expect(reasons.filter((reason) => reason.startsWith("Too many")).length).toBe(200);
    expect(reasons.filter((reason) => reason.startsWith("All connections were busy")).length).toBe(1000);
    await busy;
  });
});

describe("a cluster", () => {
  let cluster: PostgresCluster;
  let servers: PostgresServer[];
  beforeAll(async () => {
    cluster = await startCluster(2);
    servers = [...cluster.servers];
    await using database = open(await cluster.address());
    await database.run("CREATE TABLE rows (n integer)");
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  const lead = () => servers[0] as PostgresServer;
  const standbys = () => servers.slice(1);
  const insert = "INSERT INTO rows VALUES (1)";

  test("standbys alone are not enough", async () => {
    const ports = standbys().map(({ port }) => port);
    await using database = open(addressOf(urlOf(ports, "postgres")));
    expect(await refusal(database.run("SELECT 1"))).toContain("takes no changes");
  });

  test("a commit that is cancelled while it waits for a standby is not answered as done", async () => {
    await using database = open(await cluster.address());
    await database.run("SELECT 1");
    for (const standby of standbys()) standby.freeze();
    try {
      const running = refusal(database.run(insert));
      const cancel = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
      for (let tries = 0; (await lead().ask(cancel)).length === 0; tries++) {
        expect(tries).toBeLessThan(MAX_TRIES);
        await Bun.sleep(1);
      }
      expect(await running).toContain("standby");
    } finally {
      for (const standby of standbys()) standby.thaw();
    }
    await untilBack(() => database.run(insert));
  });

  test("standbys frozen: changes are unavailable, look-ups are not, and commits that wait do not add up", async () => {
    await using database = open(await cluster.address(), { connections: 4 });
    const before = await untilBack(() => count(database));
    for (const standby of standbys()) standby.freeze();
    try {
      await Promise.all([1, 2, 3].map(() => refusal(database.run(insert))));
      for (let nth = 0; nth < 200; nth++) {
        await refusal(database.run(insert));
        expect(await count(database)).toBe(before);
      }
      await refusal(database.transaction((run) => run(insert)));
      const [stuck] = await lead().ask("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
      expect(Number(stuck?.["count"])).toBeLessThanOrEqual(8);
    } finally {
      for (const standby of standbys()) standby.thaw();
    }
    await untilBack(() => database.run(insert));
  });

  test("the primary killed: the promoted standby is used, with all that was answered", async () => {
    await using database = open(await cluster.address());
    await database.run(insert);
    const before = await count(database);
    await lead().kill();
    await untilAway(database);
    const promoted = await cluster.promote(standbys());
    await untilBack(() => database.run(insert));
    expect(await count(database)).toBe(before + 1);
    const old = lead();
    servers = [promoted, ...standbys().filter((standby) => standby !== promoted)];
    // As it was, with nobody to tell it that it no longer leads.
    await old.restart();
    for (let nth = 0; nth < 10; nth++) {
      await using fresh = open(await cluster.address());
      expect(await count(fresh)).toBe(before + 1);
      expect(await count(database)).toBe(before + 1);
    }
    await old.kill();
  });

  test("the primary frozen, then thawed: what it knew is not told any more", async () => {
    // Of the three, one is gone by now: nobody will follow the one that is promoted.
    for (const each of standbys()) {
      await each.ask("ALTER SYSTEM SET synchronous_standby_names = ''");
      await each.ask("SELECT pg_reload_conf()");
    }
    await using database = open(await cluster.address());
    await untilBack(() => database.run(insert));
    const before = await count(database);
    const old = lead();
    old.freeze();
    const promoted = await cluster.promote(standbys());
    await untilBack(() => database.run(insert));
    old.thaw();
    for (let nth = 0; nth < 100; nth++) {
      expect(await count(database)).toBe(before + 1);
      await Bun.sleep(TRY_MS);
    }
    expect(promoted).not.toBe(old);
  });
});
