import { afterAll, beforeAll, expect, test } from "bun:test";

import { lookUpCode } from "../../src/links/code.ts";
import { type LinkId, StoreUnavailable } from "../../src/links/link-store.ts";
import { createLookUps } from "../../src/links/links.ts";
import { isProblem, REASONS } from "../../src/links/problem.ts";
import type { Target } from "../../src/links/target.ts";
import { DAY_MS, HOUR_MS } from "../../src/links/time.ts";
import { createRuleCheck, type ReadLink, requireSeen } from "../../src/moderation/operator.ts";
import { createCases, createReports } from "../../src/moderation/reports.ts";
import { storeOf } from "../../src/server/domain-store.ts";
import type { VisitStore } from "../../src/visits/days/visit-store.ts";
import { newLink } from "../stores/links.ts";
import { temporaryStore } from "../support/service.ts";

const START = newLink("x").createdMs;
const store = {} as Awaited<ReturnType<typeof temporaryStore>>;
beforeAll(async () => void Object.assign(store, await temporaryStore()));
afterAll(() => store[Symbol.asyncDispose]());

let linkCount = 0;
async function createLink(target = "https://evil.example/path"): Promise<ReadLink> {
  const link = newLink(`reported${linkCount++}`, { originalUrl: target, target: target as Target });
  await store.insert([link]);
  const readLink = requireSeen(link, undefined);
  if (isProblem(readLink)) throw new Error(readLink.kind);
  return readLink;
}

interface Settings {
  readonly threshold?: number;
  readonly trustworthy?: boolean;
  readonly salt?: VisitStore["salt"];
  readonly blocked?: () => "spam";
}

/** Opens the use cases over the shared store; `advance` lets time pass. */
function openReports({ threshold, trustworthy = true, salt, blocked }: Settings = {}) {
  let nowMs = START;
  const clock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    trustworthy: () => trustworthy,
    onSetBack() {},
    countedMs: (ms: number) => ms,
  };
  const own = storeOf({ ...store, ...(salt && { salt }) }, "");
  const links = createLookUps({
    store: own,
    lookUp: (spelling) => lookUpCode(spelling, "match"),
    clock,
    codeHoldMs: 0,
    blocked: blocked ?? (() => undefined),
  });
  const reports = createReports({
    store: own,
    links,
    clock,
    reportThreshold: threshold ?? null,
    onReported: () => {},
    onDisabled: () => {},
  });
  const refuseRule = createRuleCheck({ hostRules: { size: () => 0 }, ownHosts: ["curt.example"] });
  const cases = createCases({ store, clock, refuseRule });
  return { reports, cases, advance: (ms: number) => void (nowMs += ms) };
}

const countOf = async (link: LinkId) => (await store.caseOf(link))?.reports;

test("a client counts once per link and day, regardless of its reasons", async () => {
  const { reports, advance } = openReports();
  const [one, other] = [await createLink(), await createLink()];
  for (const reason of REASONS) await reports.report(one.code, { reason, note: reason }, "192.0.2.1");
  expect(await store.caseOf(one)).toMatchObject({ reports: 1, reasons: { malware: 1 } });
  await reports.report(other.code, { reason: "spam" }, "192.0.2.1");
  expect(await countOf(other)).toBe(1);
  await reports.report(one.code, { reason: "spam" }, "192.0.2.2");
  expect(await countOf(one)).toBe(2);
  advance(DAY_MS);
  await reports.report(one.code, { reason: "spam" }, "192.0.2.1");
  expect(await countOf(one)).toBe(3);
});

test("a blank note isn't stored", async () => {
  const { reports } = openReports();
  const link = await createLink();
  for (const [nth, note] of ["", " \n", "spam", undefined].entries())
    await reports.report(link.code, { reason: "spam", note }, `192.0.2.${nth}`);
  expect(await store.caseOf(link)).toMatchObject({ reports: 4, notes: [{ note: "spam" }] });
});

test("a reporter is an IPv4 address or an IPv6 /48, so one home's 256 networks count once and can't disable a link", async () => {
  const { reports } = openReports({ threshold: 6 });
  const link = await createLink();
  const report = (address: string) => reports.report(link.code, { reason: "spam" }, address);
  for (let nth = 0; nth < 256; nth++) await report(`2001:db8:0:${nth.toString(16)}::1`);
  expect(await countOf(link)).toBe(1);
  // Behind a local translator, each IPv4 client is a reporter.
  for (const address of ["2001:db8:1::1", "2001:db9::1", "::1", "64:ff9b:1::808:808"]) await report(address);
  expect(await store.caseOf(link)).toMatchObject({ reports: 5, disabledMs: undefined });
  await report("64:ff9b:1::808:404");
  expect((await store.find(link.code))?.disabled).toBe("spam");
});

test("an untrusted clock creates no salt, and a client still counts once", async () => {
  const salt = () => expect.unreachable();
  const { reports } = openReports({ trustworthy: false, salt });
  const link = await createLink();
  for (let nth = 0; nth < 3; nth++) await reports.report(link.code, { reason: "spam" }, "192.0.2.1");
  expect(await countOf(link)).toBe(1);
});

test("a report fails while the store is unavailable, and the next one succeeds", async () => {
  let isAway = true;
  const { reports } = openReports({
    salt: (day, oldest) => (isAway ? Promise.reject(new StoreUnavailable("away")) : store.salt(day, oldest)),
  });
  const link = await createLink();
  const report = () => reports.report(link.code, { reason: "spam" }, "192.0.2.1");
  expect(await report().catch((error: unknown) => error)).toBeInstanceOf(StoreUnavailable);
  isAway = false;
  expect(await report()).toMatchObject({ code: link.code, createdMs: link.createdMs });
  expect(await countOf(link)).toBe(1);
});

test("reports neither disable a link with a blocked host nor reopen its case", async () => {
  const { reports, cases } = openReports({ threshold: 1, blocked: () => "spam" });
  const link = await createLink();
  await reports.report(link.code, { reason: "phishing" }, "192.0.2.1");
  expect((await store.find(link.code))?.disabled).toBeUndefined();
  await cases.answerCase(link, { action: "block-host", reason: "spam" }, { who: "api" });
  await reports.report(link.code, { reason: "phishing" }, "192.0.2.2");
  expect(await store.caseOf(link)).toMatchObject({ reports: 2, answer: { action: "block-host" } });
});

test("ageing deletes reporters an hour after their day, and cases 400 days after their last report", async () => {
  const { reports, cases, advance } = openReports();
  const link = await createLink();
  const report = () => reports.report(link.code, { reason: "spam", note: "old" }, "192.0.2.1");
  await report();
  const untilMidnightMs = DAY_MS - (START % DAY_MS);
  advance(untilMidnightMs + HOUR_MS - 1);
  await cases.age();
  advance(-untilMidnightMs - HOUR_MS + 1);
  await report();
  expect(await countOf(link)).toBe(1);
  advance(untilMidnightMs + HOUR_MS);
  await cases.age();
  expect(await countOf(link)).toBe(1);
  advance(-untilMidnightMs - HOUR_MS);
  await report();
  expect(await countOf(link)).toBe(2);
  advance(401 * DAY_MS);
  await cases.age();
  expect(await store.caseOf(link)).toBeUndefined();
});

test("an answer can't block a suffix of a registry or Curt's own host", async () => {
  const { reports, cases } = openReports();
  for (const [target, rule] of [
    ["https://co.uk/", "host.suffix"],
    ["https://curt.example/", "host.own"],
  ] as const) {
    const link = await createLink(target);
    await reports.report(link.code, { reason: "spam" }, "192.0.2.1");
    const outcome = await cases.answerCase(link, { action: "block-host", reason: "spam" }, { who: "page" });
    expect(outcome).toMatchObject({ kind: "refused", refusals: [{ rule }] });
    expect(await store.caseOf(link)).toMatchObject({ answer: undefined });
  }
});
