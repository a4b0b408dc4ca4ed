import { expect, test } from "bun:test";

import type { Code } from "../../../src/links/code.ts";
import { type LinkStore, StoreUnavailable } from "../../../src/links/store.ts";
import { openPostgresStore } from "../../../src/store/postgres/store.ts";
import { addressOf } from "../../postgres.ts";
import { newLink, NOW } from "../../stores/links.ts";
import { visit } from "../../stores/updates.ts";
import { seededRandom, startChaos } from "./chaos.ts";

/** `HISTORY_SECONDS=60 HISTORY_SEED=7 npm test -- test/endurance/postgres/once.test.ts` */
const SECONDS = Number(process.env["HISTORY_SECONDS"] ?? 8);
const SEED = Number(process.env["HISTORY_SEED"] ?? Date.now() % 1_000_000);

const INSTANCES = 2;
const CALLERS = 8;
/** One failover in so many seconds. */
const FAILOVER_SECONDS = 12;
/** Until somebody has answered. */
const MAX_TRIES = 2000;
const PAUSE_MS = 30;
/** How often each key is sent, by anybody. */
const SENT_PER_KEY = 12;
const MAX_VISITS = 60;

/** Undefined if the store was away: what was asked may have been done. */
async function unlessAway<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    expect(error).toBeInstanceOf(StoreUnavailable);
    return undefined;
  }
}

async function untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const answer = await unlessAway(ask());
    if (answer !== undefined) return answer;
    await Bun.sleep(PAUSE_MS);
  }
  throw new Error("it did not come back");
}

test("a request makes its links once and no link has a visit too many, whatever fails", async () => {
  await using opened = new AsyncDisposableStack();
  const random = seededRandom(SEED);
  const chaos = opened.use(await startChaos(INSTANCES, 2 + Math.floor(SECONDS / FAILOVER_SECONDS), random));
  const stores: LinkStore[] = [];
  for (const url of chaos.urls) {
    const store = await openPostgresStore(addressOf(url));
    opened.defer(() => store.close());
    stores.push(store);
  }
  const anyStore = (choose: () => number) => stores[Math.floor(choose() * INSTANCES)] as LinkStore;
  const untilMs = performance.now() + SECONDS * 1000;

  /** What was answered to each key. */
  const answers = new Map<string, object[]>();
  const codes = new Map<string, string[]>();
  let sent = 0;
  async function send(choose: () => number): Promise<void> {
    const key = `key${Math.floor(sent++ / SENT_PER_KEY)}`;
    const generated = `${key}-${sent}`;
    codes.set(key, [...(codes.get(key) ?? []), generated]);
    // The same custom code in all of them, and one that was taken before.
    const links = [generated, `${key}-custom`, "taken"].map((code, nth) => ({ ...newLink(code), nth }));
    const request = { key, body: key, sentMs: NOW };
    const outcome = await untilAnswered(async () => anyStore(choose).insertOnce(links, request));
    answers.set(key, [...(answers.get(key) ?? []), outcome]);
  }

  const visits = { link: 0, counted: [] as number[], unknown: [] as number[] };
  const visited = (nth: number) => newLink(`visited${nth}`, { terms: { maxVisits: MAX_VISITS } });
  async function follow(choose: () => number): Promise<void> {
    const nth = visits.link;
    const asked = await unlessAway(anyStore(choose).update(visited(nth), visit));
    const counts = asked === undefined ? visits.unknown : visits.counted;
    if (asked === undefined || asked.isChanged) counts[nth] = (counts[nth] ?? 0) + 1;
    else if (asked.link?.terms?.ended === "visits" && visits.link === nth) {
      await untilAnswered(async () => anyStore(choose).insert([visited(nth + 1)]));
      visits.link = nth + 1;
    }
  }

  await untilAnswered(async () => anyStore(random).insert([newLink("taken"), visited(0)]));
  async function callOn(number: number): Promise<void> {
    const choose = seededRandom(SEED + number + 1);
    while (performance.now() < untilMs) {
      await (number % 2 === 0 ? send(choose) : follow(choose));
      await Bun.sleep(choose() * PAUSE_MS);
    }
  }
  await Promise.all([
    chaos.trouble(untilMs),
    ...Array.from({ length: CALLERS }, (_, number) => callOn(number)),
  ]);

  const [store] = stores as [LinkStore];
  const find = async (code: string) =>
    untilAnswered(async () => (await store.find(code as Code)) ?? ("none" as const));
  const unknown = visits.unknown.reduce((sum, count) => sum + (count ?? 0), 0);
  console.log(
    `Seed ${SEED}: ${answers.size} keys, sent ${sent} times; ${visits.link} links used up, ${unknown} visits with unknown outcomes`,
  );
  expect(answers.size).toBeGreaterThan(0);
  for (const [key, [first = {}, ...others]] of answers) {
    for (const other of others) expect(other).toEqual(first);
    expect(first).toMatchObject([{ nth: 0 }, { nth: 1, code: `${key}-custom` }, { kind: "taken" }]);
    const made = (await Promise.all((codes.get(key) ?? []).map(find))).filter((link) => link !== "none");
    expect(made).toMatchObject([{ code: (first as { code: string }[])[0]?.code }]);
  }
  for (let nth = 0; nth < visits.link; nth++) {
    const counted = visits.counted[nth] ?? 0;
    expect(counted).toBeLessThanOrEqual(MAX_VISITS);
    expect(counted + (visits.unknown[nth] ?? 0)).toBeGreaterThanOrEqual(MAX_VISITS);
    expect(await find(`visited${nth}`)).toMatchObject({ terms: { visits: MAX_VISITS, ended: "visits" } });
  }
});
