import { expect, test } from "bun:test";

import type { LinkKey } from "../../../src/links/code.ts";
import { operateAs, TOKEN } from "../../admin/operator.ts";
import { openStoreOf, type RunningService, startService } from "../../support/service.ts";
import { seededRandom, startChaos } from "./chaos.ts";
import { findViolation, type Operation } from "./history.ts";

/** `HISTORY_SECONDS=60 HISTORY_SEED=7 npm test -- test/endurance/postgres/callers.test.ts` */
const SECONDS = Number(process.env["HISTORY_SECONDS"] ?? 10);
const SEED = Number(process.env["HISTORY_SEED"] ?? Date.now() % 1_000_000);

const INSTANCES = 3;
/** The instance that also reads from standbys. */
const STANDBY_READER = 0;
const CALLERS = 16;
/** One failover in this many seconds. */
const FAILOVER_SECONDS = 12;
/** Codes in use at a time. Each is replaced after some operations, because its link can't be created again. */
const CODES = 6;
const OPERATIONS_PER_CODE = 80;
const PAUSE_MS = 30;
/** A response should take 2 s at most, but this machine may be busy. Without a limit, it would take many minutes. */
const BOUND_MS = 60_000;

type Kind = Operation["action"]["kind"];
type Result = Pick<Operation, "action" | "outcome">;
/** The share of each, in percent. */
const SHARES: readonly (readonly [Kind, number])[] = [
  ["follow", 52],
  ["find", 15],
  ["create", 20],
  ["disable", 7],
  // Rarely, so that links stay disabled longer than caches keep them.
  ["enable", 4],
  ["end", 2],
];

/** Calls one instance, and returns the outcomes. */
async function openCaller(instance: RunningService) {
  const store = await openStoreOf(instance);
  const ask = operateAs(instance);

  async function decide(code: string, kind: "disable" | "enable"): Promise<Result["outcome"]> {
    const { status, data } = await ask(
      "POST",
      `links/${code}/${kind}`,
      kind === "disable" ? { reason: "spam" } : {},
    );
    if (status === 503) return { kind: "unknown" };
    // Another caller changed the link between its look-up and the decision, which had no effect.
    if (status === 412) return decide(code, kind);
    if (status === 404) return { kind: "missing" };
    expect(status).toBe(200);
    return { kind: data.changed === true ? "done" : "same" };
  }

  const away = (error: unknown) => {
    expect(String(error)).toStartWith("StoreUnavailable");
    return "away" as const;
  };

  async function end(code: string): Promise<Result["outcome"]> {
    const link = await store.find(code as LinkKey).catch(away);
    if (link === "away") return { kind: "unknown" };
    if (link === undefined) return { kind: "missing" };
    const ended = await store.update(link, { type: "withdraw", atMs: link.createdMs }).catch(away);
    return { kind: ended === "away" ? "unknown" : ended.isChanged ? "done" : "same" };
  }

  async function find(code: string): Promise<Result["outcome"]> {
    const link = await store.find(code as LinkKey).catch(away);
    if (link === "away") return { kind: "unknown" };
    if (link === undefined) return { kind: "missing" };
    const { target, disabled, endsMs, createdMs } = link;
    return {
      kind: "found",
      link: { target, isDisabled: disabled !== undefined, isEnded: endsMs <= createdMs },
    };
  }

  async function follow(code: string): Promise<Result["outcome"]> {
    const { status, headers } = await instance.fetch(`/${code}`);
    if (status === 503) return { kind: "unknown" };
    if (status === 404) return { kind: "missing" };
    if (status === 410) return { kind: "off" };
    expect(status).toBe(302);
    return { kind: "redirect", target: headers.get("location") ?? "" };
  }

  async function create(code: string, target: string): Promise<Result["outcome"]> {
    const { status } = await instance.shorten({ original_url: target, custom_code: code });
    if (status === 503) return { kind: "unknown" };
    if (status === 409) return { kind: "same" };
    expect(status).toBe(201);
    return { kind: "done" };
  }

  return {
    async call(kind: Kind, code: string, target: string): Promise<Result> {
      if (kind === "create") return { action: { kind, target }, outcome: await create(code, target) };
      if (kind === "end") return { action: { kind }, outcome: await end(code) };
      if (kind === "find") return { action: { kind }, outcome: await find(code) };
      if (kind === "follow") return { action: { kind }, outcome: await follow(code) };
      return { action: { kind }, outcome: await decide(code, kind) };
    },
    [Symbol.asyncDispose]: () => store.close(),
  };
}

test(`${CALLERS} clients of ${INSTANCES} instances see one consistent history during random faults`, async () => {
  await using opened = new AsyncDisposableStack();
  const random = seededRandom(SEED);
  const standbys = 2 + Math.floor(SECONDS / FAILOVER_SECONDS);
  const chaos = opened.use(await startChaos(INSTANCES, standbys, random));
  const callers: Awaited<ReturnType<typeof openCaller>>[] = [];
  for (const [nth, url] of chaos.urls.entries()) {
    // It may read from all servers, also from the primary.
    const replicas = nth === STANDBY_READER ? { READ_URL: url } : {};
    const instance = opened.use(await startService({ DATABASE_URL: url, ADMIN_TOKEN: TOKEN, ...replicas }));
    instance.expectFaults();
    callers.push(opened.use(await openCaller(instance)));
  }
  const history: Operation[] = [];
  let targets = 0;
  async function call(kind: Kind, code: string, instance: number): Promise<void> {
    const calledMs = performance.now();
    const result = await callers[instance]?.call(kind, code, `https://example.com/${targets++}`);
    const answeredMs = performance.now();
    const heardUntilMs = chaos.heardUntilMs(instance, calledMs);
    const readsStandbys = instance === STANDBY_READER;
    if (result !== undefined)
      history.push({ code, ...result, calledMs, answeredMs, heardUntilMs, instance, readsStandbys });
  }

  const codes = Array.from({ length: CODES }, (_, nth) => ({ nth, age: 0, used: 0 }));
  const untilMs = performance.now() + SECONDS * 1000;
  async function callOn(number: number): Promise<void> {
    const choose = seededRandom(SEED + number + 1);
    while (performance.now() < untilMs) {
      const code = codes[Math.floor(choose() * CODES)] ?? { nth: 0, age: 0, used: 0 };
      if (++code.used % OPERATIONS_PER_CODE === 0) code.age++;
      // Sometimes the previous code, whose link all instances have in memory by now.
      const age = choose() < 0.4 ? Math.max(0, code.age - 1) : code.age;
      await call(kindOf(choose()), `c${code.nth}-${age}`, Math.floor(choose() * INSTANCES));
      await Bun.sleep(choose() * PAUSE_MS);
    }
  }
  await Promise.all([
    chaos.trouble(untilMs),
    ...Array.from({ length: CALLERS }, (_, number) => callOn(number)),
  ]);
  for (const code of new Set(history.map((operation) => operation.code)))
    for (let instance = 0; instance < INSTANCES; instance++) await call("find", code, instance);

  const unknown = history.filter(({ outcome }) => outcome.kind === "unknown").length;
  const longestMs = Math.max(...history.map(({ calledMs, answeredMs }) => answeredMs - calledMs));
  console.log(
    `Seed ${SEED}: ${history.length} operations, ${unknown} with unknown outcomes; the slowest took ${Math.round(longestMs)} ms`,
  );
  const violation = findViolation(history);
  if (violation !== undefined) throw new Error(describeHistory(violation, history, chaos.events));
  expect(unknown).toBeGreaterThan(0);
  expect(longestMs).toBeLessThan(BOUND_MS);
});

function kindOf(random: number): Kind {
  let left = random * 100;
  for (const [kind, share] of SHARES) {
    if (left < share) return kind;
    left -= share;
  }
  return "follow";
}

/** The operations on the code, and the faults at that time. */
function describeHistory(
  violation: Operation,
  history: readonly Operation[],
  events: readonly { readonly atMs: number; readonly what: string }[],
): string {
  const operations = history.filter(({ code }) => code === violation.code);
  const startMs = Math.min(...operations.map(({ calledMs }) => calledMs));
  const ms = (atMs: number) => Math.round((atMs - startMs) * 10) / 10;
  const lines = operations.map((operation) => {
    const { action, outcome, calledMs, answeredMs, instance } = operation;
    const mark = operation === violation ? "  <-- not explained" : "";
    return {
      atMs: calledMs,
      what: `${ms(answeredMs)} instance ${instance}: ${JSON.stringify(action)} ${JSON.stringify(outcome)}${mark}`,
    };
  });
  const all = [...lines, ...events].filter(
    ({ atMs }) => atMs > startMs - 5000 && atMs < violation.answeredMs + 100,
  );
  all.sort((a, b) => a.atMs - b.atMs);
  const story = all.map(({ atMs, what }) => `${ms(atMs)} ${what}`).join("\n");
  return `Seed ${SEED}: no order of operations explains the outcomes for ${violation.code}:\n${story}`;
}
