import { expect, test } from "bun:test";

import { createClock } from "../../src/links/clock.ts";
import { createStoredLinks } from "../../src/links/links.ts";
import { createHostRules } from "../../src/moderation/host-rules.ts";
import { createOperator, createRuleCheck } from "../../src/moderation/operator.ts";
import { newLink } from "../stores/links.ts";
import { temporaryStore } from "../support/service.ts";

const NOW = Date.UTC(2026, 10, 22);

async function openOperator() {
  const store = await temporaryStore();
  const hostRules = createHostRules(store);
  const clock = { nowMs: () => NOW };
  const ownHosts = ["curt.example", "xn--h32bq4v.example", "[::1]"];
  const refuseRule = createRuleCheck({ hostRules, ownHosts });
  const links = createStoredLinks({
    store,
    clock: createClock(clock.nowMs, clock.nowMs),
    targetPolicy: { posture: "public", ownHosts, ownPorts: ["443"], isShortener: () => false },
    edits: "off",
    codeHoldMs: 0,
    blocked: hostRules.blocked,
    readRules: hostRules.read,
  });
  const operator = createOperator({ store, links, clock, refuseRule });
  return { store, links, hostRules, operator, [Symbol.asyncDispose]: store[Symbol.asyncDispose] };
}

test("disabling 1,201 links takes transactions of at most 500, and disables each link once", async () => {
  await using opened = await openOperator();
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
  const disabled = await counting.disable(links, { reason: "spam" }, { who: "api" });
  expect(disabled).toMatchObject({ links: { length: 1201 }, atMs: NOW });
  expect(batches).toEqual([500, 500, 201]);
  expect(await operator.disable(links, { reason: "spam" }, { who: "api" })).toEqual({ links: [], atMs: NOW });
  expect(await store.find("m1200" as LinkKey)).toMatchObject({ disabled: "spam" });
});

test("Curt's own hosts and suffixes of registries can't be blocked, but suffixes of companies can", async () => {
  await using opened = await openOperator();
  const { operator } = opened;
  for (const [rule, hosts] of [
    ["host.suffix", ["com", "CO.UK.", "kr", "co.kr", "한국"]],
    ["host.own", ["CURT.example.", "메일.example", "::1", "[::1]"]],
  ] as const)
    for (const host of hosts)
      expect([host, await operator.blockHost(host, { reason: "spam" }, { who: "api" })]).toMatchObject([
        host,
        { kind: "refused", refusals: [{ rule }] },
      ]);
  for (const input of ["github.io", "example.com", "a.co.uk", "192.0.2.1", "[2001:db8::1]", "localhost"])
    expect(await operator.blockHost(input, { reason: "spam" }, { who: "api" })).toMatchObject({
      changed: true,
    });
});

test("at most 100,000 hosts can be blocked", async () => {
  await using opened = await openOperator();
  const { store, links } = opened;
  const full = createOperator({
    store,
    links,
    clock: { nowMs: () => NOW },
    refuseRule: createRuleCheck({ hostRules: { size: () => 100_000 }, ownHosts: [] }),
  });
  expect(await full.blockHost("a.example", { reason: "spam" }, { who: "api" })).toEqual({
    kind: "refused",
    refusals: [{ rule: "host.too-many", max: 100_000 }],
  });
  expect(await full.unblockHost("a.example", {}, { who: "api" })).toEqual({
    host: "a.example",
    changed: false,
  });
});
