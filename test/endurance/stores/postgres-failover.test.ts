import { afterAll, beforeAll, expect, test } from "bun:test";

import {
  count,
  countAtOnce,
  collectReports,
  MAX_TRIES,
  open,
  openConnected,
  refusal,
  TRY_MS,
  untilAway,
  untilBack,
} from "../../stores/postgres-away.ts";
import { addressOf, type PostgresServer, urlOf } from "../../support/postgres.ts";
import { type PostgresCluster, startCluster } from "../postgres/cluster.ts";

let cluster: PostgresCluster;
let servers: PostgresServer[];
beforeAll(async () => {
  cluster = await startCluster(2);
  servers = [...cluster.servers];
  await using database = await openConnected(await cluster.address());
  await database.run("CREATE TABLE rows (n integer)");
});
afterAll(() => cluster[Symbol.asyncDispose]());

const primary = () => servers[0] as PostgresServer;
const standbys = () => servers.slice(1);
const insert = "INSERT INTO rows VALUES (1)";

test("standbys without a primary are unavailable", async () => {
  const ports = standbys().map(({ port }) => port);
  await using database = open(addressOf(urlOf(ports, "postgres")));
  expect(await untilAway(database)).toContain("takes no changes");
});

test("a commit that is cancelled while it waits for a standby fails", async () => {
  // The limit must not end it before the cancellation.
  await using database = await openConnected(await cluster.address(), { limitMs: 25_000 });
  for (const standby of standbys()) standby.freeze();
  try {
    const running = refusal(database.run(insert));
    const cancel = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    for (let tries = 0; (await primary().query(cancel)).length === 0; tries++) {
      expect(tries).toBeLessThan(MAX_TRIES);
      await Bun.sleep(1);
    }
    expect(await running).toContain("standby");
  } finally {
    for (const standby of standbys()) standby.thaw();
  }
  await untilBack(() => database.run(insert));
});

test("with frozen standbys, changes fail, reads work, and waiting commits don't pile up", async () => {
  // More than the usual second: a busy machine must not cause refused reads.
  await using database = await openConnected(await cluster.address(), { connections: 4, limitMs: 4000 });
  const before = await count(database);
  for (const standby of standbys()) standby.freeze();
  try {
    await Promise.all([1, 2, 3].map(() => refusal(database.run(insert))));
    for (let nth = 0; nth < 200; nth++) {
      await refusal(database.run(insert));
      expect(await countAtOnce(database)).toBe(before);
    }
    await refusal(database.transaction((run) => run(insert)));
    const [stuck] = await primary().query(
      "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
    );
    // Commits from before Curt noticed that they wait.
    expect(Number(stuck?.["count"])).toBeLessThanOrEqual(20);
  } finally {
    for (const standby of standbys()) standby.thaw();
  }
  await untilBack(() => database.run(insert));
});

test("after the loss of the primary, the promoted standby has all confirmed rows and is used even if the old primary returns", async () => {
  const { reports: changes, onPrimary, untilReported } = collectReports();
  await using database = await openConnected(await cluster.address(), { onPrimary });
  await untilBack(() => database.run(insert));
  const before = await count(database);
  await primary().kill();
  await untilAway(database);
  const promoted = await cluster.promote(standbys());
  await untilBack(() => database.run(insert));
  await untilReported(1);
  expect(changes).toEqual([
    { name: `127.0.0.1:${promoted.port}`, trouble: expect.stringContaining(`:${primary().port}: `) },
  ]);
  // A commit whose response came too late counts as well.
  const after = await count(database);
  expect(after).toBeGreaterThan(before);
  const old = primary();
  servers = [promoted, ...standbys().filter((standby) => standby !== promoted)];
  // With its old configuration, it believes that it is still the primary.
  await old.restart();
  for (let nth = 0; nth < 10; nth++) {
    await using fresh = open(await cluster.address());
    for (const one of [fresh, database]) expect(await count(one)).toBeGreaterThanOrEqual(after);
  }
  await old.kill();
});

test("a primary that was frozen during a failover isn't read any more", async () => {
  // One of three servers is gone by now, so the next primary has no standby.
  for (const each of standbys()) {
    await each.query("ALTER SYSTEM SET synchronous_standby_names = ''");
    await each.query("SELECT pg_reload_conf()");
  }
  await using database = await openConnected(await cluster.address());
  await untilBack(() => database.run(insert));
  const before = await count(database);
  const old = primary();
  old.freeze();
  const promoted = await cluster.promote(standbys());
  await untilBack(() => database.run(insert));
  old.thaw();
  for (let nth = 0; nth < 100; nth++) {
    expect(await count(database)).toBeGreaterThan(before);
    await Bun.sleep(TRY_MS);
  }
  expect(promoted).not.toBe(old);
});
