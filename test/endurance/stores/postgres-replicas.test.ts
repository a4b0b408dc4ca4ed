import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { Client } from "pg";

import type { LinkKey } from "../../../src/links/code.ts";
import type { LinkStore } from "../../../src/links/link-store.ts";
import type { StoredLink } from "../../../src/links/link.ts";
import { openPostgresStore } from "../../../src/store/postgres/postgres-store.ts";
import { newLink, withoutHold } from "../../stores/links.ts";
import { MAX_TRIES, PATIENT, TRY_MS, untilBack } from "../../stores/postgres-away.ts";
import { destination, edit } from "../../stores/updates.ts";
import { addressOf, type PostgresServer, urlOf } from "../../support/postgres.ts";
import { startProxy } from "../../support/proxy.ts";
import { type LocalService, startService } from "../../support/service.ts";
import { type PostgresCluster, startCluster } from "../postgres/cluster.ts";

const NOW = newLink("x").createdMs;
const decision = { who: "api", atMs: NOW, reason: "phishing" } as const;

/** Opens a store that reads from a standby. */
async function open(primaries: string, replicas: string, troubles: (string | undefined)[] = []) {
  const store = await openPostgresStore(addressOf(primaries), {
    ...PATIENT,
    readFrom: addressOf(replicas),
    onReplica: (_, trouble) => troubles.push(trouble),
  });
  const near = async (code: string) => store.findNear?.(code as LinkKey);
  return Object.assign(store, {
    /** The replica's link, after reading the changes. */
    async near(code: string): Promise<StoredLink | undefined> {
      await untilBack(() => store.changes());
      return near(code);
    },
    nearUnread: near,
    [Symbol.asyncDispose]: () => store.close(),
  });
}

/** Repeats a call until its result is neither undefined nor false. */
async function until<T>(call: () => Promise<T>): Promise<Exclude<T, undefined | false>> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const result = await call();
    if (result !== undefined && result !== false) return result as Exclude<T, undefined | false>;
    await Bun.sleep(TRY_MS);
  }
  throw new Error("waited too long");
}

/** Waits until the replica responds in time, which a busy one doesn't always do. */
const untilNear = (store: { near(code: string): Promise<StoredLink | undefined> }, code: string) =>
  until(() => store.near(code));

/** The status other than 503, which means that the primary took too long. */
const statusOf = (call: () => Promise<Response>) =>
  until(async () => {
    const { status } = await call();
    return status !== 503 && status;
  });

async function paused(standby: PostgresServer) {
  await standby.query("SELECT pg_wal_replay_pause()");
  await until(async () => {
    const [row] = await standby.query("SELECT pg_get_wal_replay_pause_state() AS state");
    return row?.["state"] === "paused";
  });
  return { [Symbol.asyncDispose]: async () => void (await standby.query("SELECT pg_wal_replay_resume()")) };
}

describe("a standby that is read from", () => {
  let cluster: PostgresCluster;
  let standby: PostgresServer;
  beforeAll(async () => {
    cluster = await startCluster(1);
    standby = cluster.servers[1] as PostgresServer;
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  const openHere = async (troubles?: (string | undefined)[]) =>
    open(await cluster.url(), urlOf([standby.port], "curt"), troubles);

  test("returns complete links, many at once, and nothing for unknown codes", async () => {
    await using store = await openHere();
    const links = Array.from({ length: 300 }, (_, nth) => newLink(`many${nth}`, { endsMs: NOW + nth }));
    await store.insert(links);
    let found: (StoredLink | undefined)[] = [];
    await until(async () => {
      await untilBack(() => store.changes());
      found = await Promise.all(links.map(({ code }) => store.nearUnread(code)));
      return !found.includes(undefined);
    });
    expect(found).toEqual(links.map(withoutHold));
    expect(await store.near("none")).toBeUndefined();
    expect(await store.near("a\0b")).toBeUndefined();
  });

  test.each<[string, (store: LinkStore, link: StoredLink) => Promise<unknown>, object]>([
    ["decision", (store, link) => store.disable([link], decision), { disabled: "phishing" }],
    [
      "edit",
      async (store, link) =>
        store.update(link, edit({ destination: destination("https://new.example/"), maxVisits: 3 })),
      { target: "https://new.example/", terms: { maxVisits: 3, formerHost: "example.com" } },
    ],
  ])("is ignored after a confirmed %s until it has it", async (kind, change, changed) => {
    await using store = await openHere();
    await using other = await openHere();
    const [link, beside] = [newLink(`changed-by-${kind}`), newLink(`beside-${kind}`)];
    await store.insert([link, beside]);
    for (const { code } of [link, beside]) await untilNear(store, code);
    {
      await using _ = await paused(standby);
      await change(other, link);
      for (let nth = 0; nth < 50; nth++) {
        for (const { code } of [link, beside]) expect(await store.near(code)).toBeUndefined();
        await Bun.sleep(TRY_MS);
      }
      expect(await untilBack(() => store.find(link.code))).toMatchObject(changed);
    }
    expect(await untilNear(store, link.code)).toMatchObject(changed);
  });

  test("is ignored while it lacks a change that started before the newest one", async () => {
    await using store = await openHere();
    await store.insert([newLink("slow"), newLink("quick")]);
    await untilNear(store, "slow");
    const slow = new Client(await cluster.servers[0]?.url("curt"));
    await slow.connect();
    try {
      await slow.query("BEGIN");
      await slow.query("UPDATE links SET disabled = 'spam' WHERE code = 'slow'");
      await slow.query("INSERT INTO changes (code) VALUES ('slow')");
      await store.disable([newLink("quick")], decision);
      // The standby has all of that.
      await until(async () => {
        const client = new Client(urlOf([standby.port], "curt"));
        await client.connect();
        const { rows } = await client.query("SELECT disabled FROM links WHERE code = 'quick'");
        await client.end();
        return rows[0]?.disabled === "phishing";
      });
      await using _ = await paused(standby);
      await slow.query("COMMIT");
      for (let nth = 0; nth < 20; nth++) {
        expect(await store.near("slow")).toBeUndefined();
        await Bun.sleep(TRY_MS);
      }
    } finally {
      await slow.end();
    }
    expect(await untilNear(store, "slow")).toMatchObject({ disabled: "spam" });
  });

  test("is ignored if the changes haven't been read recently", async () => {
    await using store = await openHere();
    await store.insert([newLink("long")]);
    await untilNear(store, "long");
    // Another process may have disabled the link meanwhile.
    await Bun.sleep(701);
    expect(await store.nearUnread("long")).toBeUndefined();
    await untilNear(store, "long");
  });

  test("is skipped while it is frozen, and used again once it responds", async () => {
    const troubles: (string | undefined)[] = [];
    await using store = await openHere(troubles);
    await store.insert([newLink("frozen")]);
    await untilNear(store, "frozen");
    // Otherwise the primary would wait for it.
    await using _ = await withoutStandbys(cluster.servers[0] as PostgresServer);
    troubles.length = 0;
    standby.freeze();
    try {
      for (let nth = 0; nth < 300; nth++) expect(await store.near("frozen")).toBeUndefined();
      expect(troubles).toEqual([expect.stringContaining("did not answer")]);
    } finally {
      standby.thaw();
    }
    await untilNear(store, "frozen");
    expect(troubles[1]).toBeUndefined();
    expect(troubles.length).toBeGreaterThan(1);
  });

  test("never causes an error while it is reset, silent, slow or lost", async () => {
    await using proxy = await startProxy(standby.port);
    await using store = await open(await cluster.url(), urlOf([proxy.port], "curt"));
    await store.insert([newLink("gone")]);
    const harms = [
      () => proxy.reset(),
      () => proxy.silence(),
      () => proxy.delay(500),
      () => proxy.lead(undefined),
    ];
    for (const harm of harms) {
      proxy.delay(0);
      await untilNear(store, "gone");
      harm();
      if (harm === harms[3]) proxy.reset();
      const found = await Promise.all(Array.from({ length: 50 }, () => store.nearUnread("gone")));
      for (const link of found) expect([undefined, "gone"]).toContain(link?.code);
    }
    proxy.lead(standby.port);
    await untilNear(store, "gone");
  });

  test("shows new links immediately and disabled links never, over HTTP", async () => {
    await using proxy = await startProxy(standby.port);
    const DATABASE_URL = await cluster.url("http");
    const readFrom = (port: number) => ({ DATABASE_URL, READ_URL: urlOf([port], "http") });
    await using one = await startService(readFrom(standby.port));
    await using two = await startService(readFrom(proxy.port));
    for (const curt of [one, two]) curt.expectFaults();
    const follow = async (curt: LocalService, code: string) => statusOf(() => curt.fetch(`/${code}`));
    const create = async (custom_code: string) => {
      const status = await statusOf(() => one.shorten({ original_url: "https://example.com/", custom_code }));
      // A create whose response was late may have succeeded.
      return status === 409 ? 201 : status;
    };
    // Until the standby is read.
    await until(async () => (await follow(two, "none")) === 404 && proxy.accepted > 0);
    for (let nth = 0; nth < 20; nth++) {
      expect([await create(`new${nth}`), await follow(two, `new${nth}`)]).toEqual([201, 302]);
    }
    await using _ = await paused(standby);
    expect([await create("later"), await follow(two, "later"), await follow(two, "none")]).toEqual([
      201, 302, 404,
    ]);
    await using store = await openPostgresStore(addressOf(DATABASE_URL), PATIENT).then((opened) =>
      Object.assign(opened, { [Symbol.asyncDispose]: () => opened.close() }),
    );
    const link = (await store.find("new0" as LinkKey)) as StoredLink;
    await store.disable([link], decision);
    for (const curt of [one, two]) await until(async () => (await follow(curt, "new0")) === 410);
    for (let nth = 0; nth < 100; nth++)
      for (const curt of [one, two]) expect(await follow(curt, "new0")).toBe(410);
  });
});

/** Commits don't wait for standbys in this scope. */
async function withoutStandbys(primary: PostgresServer) {
  const set = async (statement: string) => {
    await primary.query(statement);
    await primary.query("SELECT pg_reload_conf()");
  };
  await set("ALTER SYSTEM SET synchronous_standby_names = ''");
  return {
    [Symbol.asyncDispose]: () => set("ALTER SYSTEM RESET synchronous_standby_names"),
  };
}

test("an old primary with another history is ignored after a failover", async () => {
  await using cluster = await startCluster(1);
  const [old, promoted] = cluster.servers as [PostgresServer, PostgresServer];
  {
    await using first = await open(await cluster.url(), urlOf([old.port], "curt"));
    await first.insert([newLink("shared")]);
    await first.disable([newLink("shared")], decision);
    // The primary itself may be listed.
    await untilNear(first, "shared");
  }
  for (const each of [old, promoted]) {
    await each.query("ALTER SYSTEM SET synchronous_standby_names = ''");
    await each.query("SELECT pg_reload_conf()");
  }
  await promoted.kill();
  {
    await using lost = await openPostgresStore(await old.address("curt"), PATIENT).then((store) =>
      Object.assign(store, { [Symbol.asyncDispose]: () => store.close() }),
    );
    for (let nth = 0; nth < 50; nth++) await lost.insert([newLink(`lost${nth}`)]);
  }
  await old.kill();
  await promoted.restart();
  await cluster.promote([promoted]);
  await old.restart();
  await using store = await open(await cluster.url(), urlOf([old.port], "curt"));
  for (let nth = 0; nth < 100; nth++) {
    expect(await store.near("lost7")).toBeUndefined();
    expect(await store.near("shared")).toBeUndefined();
    await Bun.sleep(TRY_MS);
  }
  expect(await untilBack(() => store.find("lost7" as LinkKey))).toBeUndefined();
});
