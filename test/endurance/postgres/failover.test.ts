import { afterAll, beforeAll, expect, test } from "bun:test";

import { sendUntilAnswered } from "../../again.ts";
import type { PostgresServer } from "../../postgres.ts";
import { type Program, startProgram } from "../../service.ts";
import { linkOf, visit } from "../../visits/visits.ts";
import { type PostgresCluster, startCluster } from "./cluster.ts";

const INSTANCES = 3;
/** Each of them asks one instance, one request after the other. */
const CREATORS = 6;
const FOLLOWERS = 6;
/** Creates take some milliseconds each, so this is plenty. It leaves processor time to the servers. */
const PAUSE_MS = 25;
/** How long it cannot reach its standbys before it is lost. What it answered then would be lost with it. */
const CUT_OFF_MS = 200;
/** How long a manager of clusters needs to notice that the primary is lost. Most take longer: Patroni up to 30 s. */
const NOTICED_MS = 1500;
/** Links can be made again within a second, but this machine may be busy. Without a limit, it would take many minutes. */
const BACK_MS = 60_000;
const MAX_WAITS = 24_000;
const HOT = "hot";

let cluster: PostgresCluster;
let instances: readonly Program[];
/** The first one leads. Those that were lost are no longer among them. */
let servers: PostgresServer[];
/** Codes that were answered 201, each with its URL. */
const made = new Map<string, string>();
/** Redirects of the link that all instances have in memory, and how long the slowest took. */
const hot = { followed: 0, longestMs: 0 };

beforeAll(async () => {
  cluster = await startCluster(3);
  servers = [...cluster.servers];
  const settings = { DATABASE_URL: await cluster.url() };
  const first = await startProgram(settings);
  instances = [first, ...(await Promise.all([startProgram(settings), startProgram(settings)]))];
  for (const instance of instances) instance.expectFaults();
  await first.shorten({ original_url: "https://example.com/hot", custom_code: HOT });
  for (const instance of instances) await visit(instance, HOT);
  hot.followed = INSTANCES;
});
afterAll(async () => {
  for (const instance of instances) await instance[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
});

const instanceOf = (nth: number) => instances[nth % INSTANCES] as Program;

/** Creates and redirects at all instances, until it is stopped. Rejects if anybody is told what is not so. */
function startLoad(round: string) {
  const load = { isOver: false, answers: 0, refused: 0 };
  /** When each instance last made a link. */
  const madeAtMs = Array.from({ length: INSTANCES }, () => 0);

  async function makeLinks(creator: number): Promise<void> {
    for (let nth = 0; !load.isOver; nth++) {
      const original_url = `https://example.com/${round}/${creator}/${nth}`;
      const custom_code = nth % 2 === 0 ? `${round}-${creator}-${nth}` : undefined;
      const response = await instanceOf(creator).shorten({ original_url, custom_code });
      const { data } = (await response.json()) as { data?: { code: string } };
      expect([201, 503]).toContain(response.status);
      load.answers++;
      if (data === undefined) load.refused++;
      else {
        madeAtMs[creator % INSTANCES] = performance.now();
        expect(made.has(data.code)).toBe(false);
        made.set(data.code, original_url);
        // At once, by another instance.
        await follow(instanceOf(creator + 1), data.code);
      }
      await Bun.sleep(PAUSE_MS);
    }
  }

  async function followLinks(follower: number): Promise<void> {
    while (!load.isOver) {
      const sinceMs = performance.now();
      await visit(instanceOf(follower), HOT);
      hot.longestMs = Math.max(hot.longestMs, performance.now() - sinceMs);
      hot.followed++;
      load.answers++;
      await Bun.sleep(PAUSE_MS);
    }
  }

  const all = Promise.all([
    ...Array.from({ length: CREATORS }, (_, nth) => makeLinks(nth)),
    ...Array.from({ length: FOLLOWERS }, (_, nth) => followLinks(nth)),
  ]);
  // Whoever waits for the load is told later, when it is stopped.
  all.catch(() => (load.isOver = true));

  return {
    counts: load,
    /** Resolves when every instance has made a link that was answered after `sinceMs`. */
    async untilMadeSince(sinceMs: number): Promise<void> {
      for (let waits = 0; madeAtMs.some((atMs) => atMs < sinceMs) && !load.isOver; waits++) {
        if (waits > MAX_WAITS) throw new Error("no links can be made");
        await Bun.sleep(5);
      }
    },
    async stop(): Promise<void> {
      load.isOver = true;
      await all;
    },
  };
}

/** 200 requests of all instances with one key, each sent again until it is answered. */
async function makeOnce(round: string): Promise<string> {
  const target = `https://example.com/once/${encodeURIComponent(round)}`;
  const again = { path: "/api/v1/links", body: { target }, key: JSON.stringify(round) };
  const { answer, tries } = await sendUntilAnswered(again, 200, instanceOf);
  expect(answer["status"]).toBe("success");
  expect(answer["data"].target).toBe(target);
  made.set(answer["data"].code, target);
  console.log(`200 requests with the key "${round}": one link, after ${tries} tries`);
  return target;
}

/** The link of a code that was answered 201. */
async function follow(instance: Program, code: string): Promise<boolean> {
  const { status, headers } = await instance.fetch(`/${encodeURIComponent(code)}`);
  if (status === 503) return false;
  expect([code, status, headers.get("location")]).toEqual([code, 302, made.get(code) ?? ""]);
  return true;
}

/** Its standbys receive nothing any more. */
async function cutOff(primary: PostgresServer): Promise<void> {
  const senders = await primary.ask("SELECT pid FROM pg_stat_replication");
  for (const { pid } of senders) process.kill(Number(pid), "SIGSTOP");
}

async function followAll(): Promise<void> {
  const left = [...made.keys()];
  await Promise.all(
    Array.from({ length: 24 }, async (_, nth) => {
      for (let code = left.pop(); code !== undefined; code = left.pop())
        expect([code, await follow(instanceOf(nth), code)]).toEqual([code, true]);
    }),
  );
}

test.each<[string, (primary: PostgresServer) => unknown, (primary: PostgresServer) => unknown]>([
  ["killed", (primary) => primary.kill(), () => {}],
  ["frozen, and thawed later", (primary) => primary.freeze(), (primary) => primary.thaw()],
])(
  "the primary is %s: nothing that was answered is lost, and three instances go on",
  async (name, lose, bringBack) => {
    const [primary, ...standbys] = servers;
    if (primary === undefined) throw new Error("no server");
    const load = startLoad(name.slice(0, 6));
    await load.untilMadeSince(performance.now());
    const once = [makeOnce(`${name}, before`)];
    await cutOff(primary);
    once.push(makeOnce(`${name}, while it is cut off`));
    await Bun.sleep(CUT_OFF_MS);
    await lose(primary);
    await Bun.sleep(NOTICED_MS);
    const promoted = await cluster.promote(standbys);
    const promotedMs = performance.now();
    servers = [promoted, ...standbys.filter((standby) => standby !== promoted)];
    await load.untilMadeSince(promotedMs);
    const tookMs = performance.now() - promotedMs;
    const [back, longest] = [tookMs, hot.longestMs].map(Math.round);
    console.log(
      `Primary ${name}: links made again ${back} ms after the promotion; slowest cached redirect ${longest} ms`,
    );
    expect(Math.max(tookMs, hot.longestMs)).toBeLessThan(BACK_MS);
    await bringBack(primary);
    // What the old primary knows must not be told.
    const enough = load.counts.answers + 1000;
    for (let waits = 0; load.counts.answers < enough && !load.counts.isOver && waits < MAX_WAITS; waits++)
      await Bun.sleep(5);
    await load.stop();
    expect(load.counts.refused).toBeGreaterThan(0);
    for (const target of await Promise.all(once)) {
      const rows = await promoted.ask(`SELECT FROM links WHERE original_url = '${target}'`, "curt");
      expect([target, rows.length]).toEqual([target, 1]);
    }
    await followAll();
  },
);

test("afterwards, all visits of all instances are counted", async () => {
  for (const instance of instances) {
    // On a busy machine the thread that answers may need more than the second it has.
    const visitsOf = async () => Number((await linkOf(instance, HOT).catch(() => ({ visits: 0 })))["visits"]);
    let counted = 0;
    for (let waits = 0; counted < hot.followed && waits < MAX_WAITS; waits++) {
      await Bun.sleep(PAUSE_MS);
      counted = await visitsOf();
    }
    expect(counted).toBe(hot.followed);
  }
});
