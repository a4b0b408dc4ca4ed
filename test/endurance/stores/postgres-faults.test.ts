import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";

import { Client } from "pg";

import type { PostgresAddress } from "../../../src/config/database-url.ts";
import { StoreUnavailable } from "../../../src/links/link-store.ts";
import { connector, within } from "../../../src/store/postgres/connection/connection.ts";
import {
  count,
  collectReports,
  MAX_TRIES,
  open,
  openConnected,
  refusal,
  TRY_MS,
  untilAway,
  untilBack,
} from "../../stores/postgres-away.ts";
import { testOnLinux } from "../../support/linux.ts";
import { addressOf, type PostgresServer, startPostgres, urlOf } from "../../support/postgres.ts";
import { startProxy } from "../../support/proxy.ts";
import { stopClock } from "../../support/stopped-clock.ts";

/** Accepts connections and never responds. */
function listenDeaf() {
  const deaf = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  return { port: deaf.port, [Symbol.dispose]: () => deaf.stop(true) };
}

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres(["max_connections=20"]);
  await using database = await openConnected(await server.address());
  await database.run("CREATE TABLE rows (n integer)");
  await server.query("CREATE ROLE crowded LOGIN PASSWORD 'crowded' CONNECTION LIMIT 0");
});
afterAll(() => server[Symbol.asyncDispose]());

describe("one server", () => {
  test("a server that comes and goes is reported once, when it stays", async () => {
    await using proxy = await startProxy(server.port);
    const { reports, onPrimary, untilReported } = collectReports();
    await using database = await openConnected(addressOf(urlOf([proxy.port], "curt")), { onPrimary });
    {
      // It never stays for long.
      using _ = stopClock();
      for (let nth = 0; nth < 5; nth++) {
        proxy.lead(undefined);
        proxy.reset();
        await untilAway(database);
        proxy.lead(server.port);
        await untilBack(() => database.run("SELECT 1"));
      }
    }
    await untilReported(1);
    proxy.reset();
    await untilBack(() => database.run("SELECT 1"));
    proxy.lead(undefined);
    proxy.reset();
    await untilAway(database);
    proxy.lead(server.port);
    await untilReported(2);
    expect(reports.map(({ name }) => name)).toEqual(Array(2).fill(`127.0.0.1:${proxy.port}`));
  });

  test("a missing privilege counts as unavailable", async () => {
    await server.query("CREATE ROLE weak LOGIN PASSWORD 'weak'");
    await using database = await openConnected({
      ...(await server.address()),
      user: "weak",
      password: "weak",
    });
    expect(await refusal(database.run("SELECT n FROM rows"))).toContain("permission denied");
  });

  test("a frozen server fails the first requests after a wait and later ones immediately, and works again once thawed", async () => {
    await using database = await openConnected(await server.address());
    server.freeze();
    try {
      await Promise.all(Array.from({ length: 20 }, () => refusal(database.run("SELECT 1"))));
      await untilAway(database);
      // Otherwise, each would take a second.
      for (let nth = 0; nth < 1000; nth++) await refusal(database.run("SELECT 1"));
    } finally {
      server.thaw();
    }
    await untilBack(() => database.run("SELECT 1"));
  });

  test("a server frozen before the first connection is unavailable, and works once thawed", async () => {
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

  test("a lost server is tried by one connection at a time, and gets few connections when it returns", async () => {
    await using proxy = await startProxy(server.port);
    await using database = await openConnected(addressOf(urlOf([proxy.port], "curt")), {
      connections: 4,
      limitMs: 10_000,
    });
    proxy.lead(undefined);
    proxy.reset();
    await untilAway(database);
    const before = proxy.accepted;
    const sinceMs = performance.now();
    let elapsedMs = 0;
    for (; elapsedMs < 600; elapsedMs = performance.now() - sinceMs) {
      for (let nth = 0; nth < 100; nth++) await refusal(database.run("SELECT 1"));
      await Bun.sleep(TRY_MS);
    }
    // Every 100 ms, with TLS and without.
    expect(proxy.accepted - before).toBeLessThanOrEqual(2 * (elapsedMs / 100 + 2));
    proxy.lead(server.port);
    const atReturn = proxy.accepted;
    await untilBack(() => Promise.all(Array.from({ length: 50 }, () => database.run("SELECT 1"))));
    // Each twice, because this server has no TLS.
    expect(proxy.accepted - atReturn).toBeLessThanOrEqual(2 * (4 + 1) + 2);
  });

  test("reset connections fail their statements and roll back transactions, and the next statement works", async () => {
    await using proxy = await startProxy(server.port);
    await using database = open(addressOf(urlOf([proxy.port], "curt")));
    const before = await count(database);
    const running = refusal(database.run("SELECT pg_sleep(60)"));
    const changing = refusal(
      database.transaction(async (run) => {
        await run("INSERT INTO rows VALUES (1)");
        proxy.reset();
        await run("INSERT INTO rows VALUES (2)");
      }),
    );
    await Promise.all([running, changing]);
    expect(await count(database)).toBe(before);
  });

  test("on a server without free connections, open ones keep working and new ones are unavailable until one is free", async () => {
    await using early = await openConnected(await server.address(), { connections: 2, limitMs: 10_000 });
    // A statement whose connection was reset keeps its place, and would free it at its end.
    await early.run(
      "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(60)%'",
    );
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
    expect(await untilAway(late)).toContain("too many clients");
    expect(await refusal(late.run("SELECT 1"))).toContain("too many clients");
    await Promise.all([1, 2, 3].map(() => early.run("SELECT pg_sleep(0.2)")));
    await Promise.all(others.map((client) => client.end()));
    await untilBack(() => late.run("SELECT 1"));
  });
});

describe("failed attempts to connect", () => {
  /** The pool's connection, that of the search for the primary, and one that the proxy hasn't closed yet. */
  const MAX_OPEN = 3;
  /** More than may be open. Without TLS, an attempt may take two. */
  const ENOUGH = 8;

  test.each<[string, Partial<PostgresAddress>, string]>([
    ["no password", { password: undefined }, "DATABASE_PASSWORD_FILE"],
    ["an empty file with the password", { password: { file: "/dev/null" } }, "DATABASE_PASSWORD_FILE"],
    ["a wrong password", { password: "wrong" }, "password authentication failed"],
    ["a role without connections", { user: "crowded", password: "crowded" }, "too many connections"],
    ["an unknown database", { name: "missing" }, '"missing" does not exist'],
    ["no TLS", { sslMode: "require" }, "does not support SSL"],
  ])("leave no connection open with %s", async (_, wrong, reason) => {
    await using proxy = await startProxy(server.port);
    const address = addressOf(urlOf([proxy.port], "curt"));
    await using database = open({ ...address, ...wrong }, { connections: 1 });
    while (proxy.accepted < ENOUGH) {
      expect(await untilAway(database)).toContain(reason);
      expect(proxy.open).toBeLessThanOrEqual(MAX_OPEN);
      await Bun.sleep(TRY_MS);
    }
  });

  test.each<[string, Partial<PostgresAddress>, string]>([
    ["an unreadable file with the password", { password: { file: "/missing" } }, "/missing"],
    ["an unreadable certificate", { sslMode: "require", sslRootCert: "/missing.pem" }, "/missing.pem"],
    ["an unknown host", { hosts: [{ host: "db.invalid", port: 5432 }] }, "db.invalid"],
  ])("open no connection with %s", async (_, wrong, reason) => {
    await using proxy = await startProxy(server.port);
    const address = addressOf(urlOf([proxy.port], "curt"));
    await using database = open({ ...address, ...wrong }, { connections: 1 });
    expect(await untilAway(database)).toContain(reason);
    expect(proxy.accepted).toBe(0);
  });

  test("leave no connection open to a frozen server", async () => {
    await using proxy = await startProxy(server.port);
    await using database = await openConnected(addressOf(urlOf([proxy.port], "curt")), { connections: 1 });
    const before = proxy.accepted;
    server.freeze();
    try {
      while (proxy.accepted <= before + MAX_OPEN) {
        await refusal(database.run("SELECT 1"));
        expect(proxy.open).toBeLessThanOrEqual(MAX_OPEN);
        await Bun.sleep(TRY_MS);
      }
    } finally {
      server.thaw();
    }
  });

  test("open no connection once the time is over", async () => {
    let attempts = 0;
    const deaf = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: { open: () => void attempts++, data() {} },
    });
    const address = { ...addressOf(urlOf([deaf.port], "curt")), password: { file: "/dev/null" } };
    const attempt = connector(address, TRY_MS)({ host: "127.0.0.1", port: deaf.port }, TRY_MS);
    Bun.sleepSync(2 * TRY_MS);
    const error: unknown = await attempt.catch((reason: unknown) => reason);
    expect((error as Error).message).toBe(`The database did not answer within ${TRY_MS} ms`);
    expect(attempts).toBe(0);
    deaf.stop(true);
  });

  test("leave no connection open if they hang while the primary comes and goes", async () => {
    await using proxy = await startProxy(server.port);
    using deaf = listenDeaf();
    const connections = 2;
    await using database = await openConnected(addressOf(urlOf([proxy.port], "curt")), { connections });
    const takesChanges = async (isOn: boolean) => {
      await server.query(`ALTER SYSTEM SET default_transaction_read_only = ${isOn ? "off" : "on"}`);
      await server.query("SELECT pg_reload_conf()");
    };
    proxy.lead(deaf.port);
    try {
      for (let nth = 0; nth < 4; nth++) {
        await takesChanges(false);
        await untilAway(database);
        await takesChanges(true);
        const before = proxy.accepted;
        while (proxy.accepted < before + connections) {
          database.run("SELECT 1").catch(() => {});
          await Bun.sleep(TRY_MS);
        }
        expect(proxy.open).toBeLessThanOrEqual(connections + 2);
      }
    } finally {
      await server.query("ALTER SYSTEM RESET default_transaction_read_only");
      await server.query("SELECT pg_reload_conf()");
    }
  });
});

describe("PostgreSQL on a full disk", () => {
  testOnLinux("stops if its log has no room, and is used again once it is restarted with room", async () => {
    await using database = open(await server.address());
    const before = await count(database);
    server.limitFiles(1);
    await refusal(database.run("INSERT INTO rows VALUES (6)"));
    await untilAway(database);
    await server.restart();
    expect(await count(database)).toBe(before);
  });
});

describe("statements", () => {
  test("a response that arrived while the thread was busy is in time", async () => {
    const listening = createServer().listen(0, "127.0.0.1");
    await once(listening, "listening");
    const socket = connect((listening.address() as AddressInfo).port, "127.0.0.1");
    const [[peer]] = await Promise.all([once(listening, "connection"), once(socket, "connect")]);
    const answer = within(once(socket, "data"), 1, () => socket.destroy());
    peer.end("answer");
    Bun.sleepSync(20);
    expect(String(await answer)).toBe("answer");
    listening.close();
  });

  test("a statement that takes too long fails, and the server cancels it", async () => {
    await using database = await openConnected(await server.address());
    // The server gives up before its clients, after 900 ms.
    const { rows } = await untilBack(() => database.run("SHOW statement_timeout"));
    expect(rows).toEqual([{ statement_timeout: "900ms" }] as never);
    await refusal(database.run("SELECT pg_sleep(60)"));
    await refusal(database.transaction((run) => run("SELECT pg_sleep(61)")));
    const running = "SELECT FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(6%' AND state = 'active'";
    for (let tries = 0; (await server.query(running)).length > 0; tries++) {
      expect(tries).toBeLessThan(MAX_TRIES);
      await Bun.sleep(TRY_MS);
    }
  });

  test("background work may take longer", async () => {
    await using database = open(await server.address(), { limitMs: 300 });
    await refusal(database.run("SELECT pg_sleep(0.5)"));
    const patient = database.within(60_000);
    await untilBack(() => patient.run("SELECT pg_sleep(0.5)"));
    await untilBack(() => patient.transaction((run) => run("SELECT pg_sleep(0.5)")));
    await refusal(database.run("SELECT pg_sleep(0.5)"));
  });

  test("a transaction that waits for something else is rolled back in time", async () => {
    await using database = open(await server.address(), { connections: 1, limitMs: 300 });
    const before = await count(database);
    const { promise: never } = Promise.withResolvers<void>();
    await refusal(
      database.transaction(async (run) => {
        await run("INSERT INTO rows VALUES (4)");
        await never;
      }),
    );
    expect(await count(database)).toBe(before);
  });

  test("a wrong statement doesn't count as unavailable, and keeps the connection", async () => {
    await using database = await openConnected(await server.address(), { connections: 1, limitMs: 10_000 });
    const pid = async () => (await database.run("SELECT pg_backend_pid() AS pid")).rows;
    const before = await pid();
    for (const mistake of ["SELECT 1 / 0", "SELECT * FROM missing", "SELEKT", "SELECT 'a'::integer"]) {
      const error = await database.run(mistake).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(Error);
      expect(error).not.toBeInstanceOf(StoreUnavailable);
    }
    expect(await pid()).toEqual(before);
  });

  test("a transaction isn't committed after a failed statement, even if its work continues", async () => {
    await using database = await openConnected(await server.address(), { connections: 1, limitMs: 10_000 });
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

  test("at most 1,000 statements wait for a connection, and not for long", async () => {
    await using database = await openConnected(await server.address(), { connections: 1 });
    const { promise: free, resolve: release } = Promise.withResolvers<void>();
    const busy = database.within(60_000).transaction(() => free);
    const reasons = await Promise.all(Array.from({ length: 1200 }, () => refusal(database.run("SELECT 1"))));
    expect(reasons.filter((reason) => reason.startsWith("Too many")).length).toBe(200);
    expect(reasons.filter((reason) => reason.startsWith("All connections were busy")).length).toBe(1000);
    release();
    await busy;
  });
});
