import { expect, test } from "bun:test";

import { createClock } from "../../src/links/clock.ts";
import type { Code } from "../../src/links/code.ts";
import { REASONS } from "../../src/links/link.ts";
import { createLinks } from "../../src/links/links.ts";
import type { LinkId } from "../../src/links/store.ts";
import { createHostRules } from "../../src/moderation/host-rules.ts";
import { createOperator, createRuleCheck } from "../../src/moderation/operator.ts";
import { temporaryStore } from "../service.ts";
import { newLink } from "../stores/links.ts";

const NOW = Date.UTC(2026, 10, 22);

async function open() {
  const store = await temporaryStore();
  const hostRules = createHostRules(store);
  const clock = { nowMs: () => NOW };
  const ownHosts = ["curt.example", "xn--h32bq4v.example", "[::1]"];
  const refuseRule = createRuleCheck({ hostRules, ownHosts });
  const links = createLinks({
    store,
    clock: createClock(clock.nowMs, clock.nowMs),
    fillRandom: (bytes) => void crypto.getRandomValues(bytes),
    targetPolicy: { posture: "public", ownHosts, ownPorts: ["443"], isShortener: () => false },
    defaultExpiry: "never",
    edits: "off",
    codeLength: 7,
    codeHoldMs: 0,
    blocked: hostRules.blocked,
    readRules: hostRules.read,
    onCreated: () => {},
    onRefused: () => {},
  });
  const operator = createOperator({ store, links, clock, refuseRule });
  return { store, links, hostRules, operator, [Symbol.asyncDispose]: store[Symbol.asyncDispose] };
}

const idOf = ({ code, createdMs }: LinkId): LinkId => ({ code, createdMs });

test("a decision is in the journal with who, when, why and the note", async () => {
  await using opened = await open();
  const { store, operator } = opened;
  await store.insert([newLink("a")]);
  const link = await operator.look("a");
  if ("kind" in link) return expect.unreachable();
  expect(await operator.disable([link], { reason: "phishing", note: "메모" }, "api")).toEqual([idOf(link)]);
  expect(await operator.look("a")).toMatchObject({ disabled: "phishing" });
  expect(await operator.enable([link], { note: "" }, "page")).toEqual([idOf(link)]);
  expect(await operator.erase(link, {}, "api")).toBeTrue();
  expect(await operator.erase(link, {}, "api")).toBeFalse();
  expect(await operator.blockHost(" Evil.Example. ", { reason: "spam" }, "api")).toEqual({
    host: "evil.example",
    changed: true,
  });
  expect(await operator.blockHost("evil.example", { reason: "spam" }, "api")).toMatchObject({
    changed: false,
  });
  expect(await operator.unblockHost("EVIL.example", { note: "mistake" }, "page")).toEqual({
    host: "evil.example",
    changed: true,
  });
  const entries = await store.journal({ limit: 10 });
  expect(entries.toReversed()).toMatchObject([
    { who: "api", action: "disable", reason: "phishing", note: "메모", atMs: NOW, ...idOf(link) },
    { who: "page", action: "enable", atMs: NOW, ...idOf(link) },
    { who: "api", action: "erase", atMs: NOW, ...idOf(link) },
    { who: "api", action: "block-host", reason: "spam", host: "evil.example" },
    { who: "page", action: "unblock-host", note: "mistake", host: "evil.example" },
  ]);
  expect(entries.filter(({ note }) => note !== undefined)).toHaveLength(2);
});

test("many links are changed in several transactions, and each once", async () => {
  await using opened = await open();
  const { store, operator, links: useCases } = opened;
  const links = Array.from({ length: 1201 }, (_, nth) => newLink(`m${nth}`));
  await store.insert(links);
  const batches: number[] = [];
  const counting = createOperator({
    store: {
      ...store,
      disable: (batch, decision) => (batches.push(batch.length), store.disable(batch, decision)),
    },
    links: useCases,
    clock: { nowMs: () => NOW },
    refuseRule: () => [],
  });
  expect(await counting.disable(links, { reason: "spam" }, "api")).toHaveLength(1201);
  expect(batches).toEqual([500, 500, 201]);
  expect(await operator.disable(links, { reason: "spam" }, "api")).toEqual([]);
  expect(await store.find("m1200" as Code)).toMatchObject({ disabled: "spam" });
});

test("what is wrong with a decision is told at once, and nothing is changed", async () => {
  await using opened = await open();
  const { store, operator } = opened;
  await store.insert([newLink("a")]);
  const values = REASONS.join(", ");
  const links = [newLink("a")];
  const refused = (...refusals: unknown[]) => ({ kind: "refused", refusals }) as never;
  const [long, lone] = ["x".repeat(2001), "\uD800"];
  expect(await operator.disable(links, { reason: "Spam", note: long }, "api")).toEqual(
    refused({ rule: "note.too-long", max: 2000 }, { rule: "reason.unknown", values }),
  );
  for (const reason of ["", "blocklist", "deleted", "toString"])
    expect(await operator.disable(links, { reason }, "api")).toEqual(
      refused({ rule: "reason.unknown", values }),
    );
  expect(await operator.enable(links, { note: lone }, "api")).toEqual(refused({ rule: "note.ill-formed" }));
  expect(await operator.erase(newLink("a"), { note: long }, "api")).toEqual(
    refused({ rule: "note.too-long", max: 2000 }),
  );
  expect(await operator.blockHost("https://x.example", { reason: "x", note: lone }, "api")).toEqual(
    refused({ rule: "host.invalid" }, { rule: "reason.unknown", values }, { rule: "note.ill-formed" }),
  );
  for (const own of ["CURT.example.", "메일.example", "::1", "[::1]"])
    expect(await operator.blockHost(own, { reason: "spam" }, "api")).toEqual(refused({ rule: "host.own" }));
  expect(await operator.unblockHost("a b", {}, "api")).toEqual(refused({ rule: "host.invalid" }));
  expect((await store.find("a" as Code))?.disabled).toBeUndefined();
  expect(await store.journal({ limit: 10 })).toEqual([]);
  expect(await store.hosts("", 10)).toEqual([]);
});

test("what registries sell names below cannot be blocked; what a company does can", async () => {
  await using opened = await open();
  const { operator } = opened;
  for (const written of ["com", "CO.UK.", "kr", "co.kr", "한국"]) {
    const outcome = await operator.blockHost(written, { reason: "spam" }, "api");
    expect(outcome).toMatchObject({ kind: "refused", refusals: [{ rule: "host.suffix" }] });
  }
  for (const written of ["github.io", "example.com", "a.co.uk", "192.0.2.1", "[2001:db8::1]", "localhost"])
    expect(await operator.blockHost(written, { reason: "spam" }, "api")).toMatchObject({ changed: true });
});

test("no more hosts are blocked than every process can hold in memory", async () => {
  await using opened = await open();
  const { store, links } = opened;
  const full = createOperator({
    store,
    links,
    clock: { nowMs: () => NOW },
    refuseRule: createRuleCheck({ hostRules: { size: () => 100_000 }, ownHosts: [] }),
  });
  expect(await full.blockHost("a.example", { reason: "spam" }, "api")).toEqual({
    kind: "refused",
    refusals: [{ rule: "host.too-many", max: 100_000 }],
  });
  expect(await full.unblockHost("a.example", {}, "api")).toEqual({ host: "a.example", changed: false });
});

test("a code that nobody has is unknown, in any spelling", async () => {
  await using opened = await open();
  const { operator } = opened;
  for (const spelling of ["none", "a b", "\uD800", ""])
    expect(await operator.look(spelling)).toEqual({ kind: "unknown" });
});
