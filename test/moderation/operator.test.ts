import { expect, test } from "bun:test";

import { createClock } from "../../src/links/clock.ts";
import { createStoredLinks } from "../../src/links/links.ts";
import { createHostRules } from "../../src/moderation/host-rules.ts";
import { createOperator, createRuleCheck, requireSeen } from "../../src/moderation/operator.ts";
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
    codeCase: "match",
    pathsNeedName: false,
    codeHoldMs: 0,
    blocked: hostRules.blocked,
    readRules: hostRules.read,
  });
  const operator = createOperator({ store, links, clock, codeCase: "match", refuseRule });
  return { store, links, hostRules, operator, [Symbol.asyncDispose]: store[Symbol.asyncDispose] };
}

test("Curt's own hosts, suffixes of registries and malformed hosts can't be blocked, but suffixes of companies can", async () => {
  await using opened = await openOperator();
  const { operator } = opened;
  for (const [rule, hosts] of [
    ["host.suffix", ["com", "CO.UK.", "kr", "co.kr", "한국"]],
    ["host.own", ["CURT.example.", "메일.example", "::1", "[::1]"]],
    ["host.invalid", ["a b", "https://x.example", "*.example", "x:80", "<b>"]],
  ] as const)
    for (const host of hosts)
      expect([host, await operator.blockHost(host, { reason: "spam" }, { who: "api" })]).toMatchObject([
        host,
        { kind: "refused", refusals: [{ rule }] },
      ]);
  for (const input of ["github.io", "example.com", "a.co.uk", "192.0.2.1", "[2001:db8::1]", "localhost"])
    expect(await operator.blockHost(input, { reason: "spam" }, { who: "api" })).toMatchObject({
      changed: 1,
    });
});

test("at most 100,000 hosts can be blocked", async () => {
  await using opened = await openOperator();
  const { store, links } = opened;
  const full = createOperator({
    store,
    links,
    clock: { nowMs: () => NOW },
    codeCase: "match",
    refuseRule: createRuleCheck({ hostRules: { size: () => 100_000 }, ownHosts: [] }),
  });
  expect(await full.blockHost("a.example", { reason: "spam" }, { who: "api" })).toEqual({
    kind: "refused",
    refusals: [{ rule: "host.too-many", max: 100_000 }],
  });
  expect(await full.unblockHost("a.example", {}, { who: "api" })).toMatchObject({
    host: "a.example",
    changed: 0,
  });
});

test("a decision without a version is about any state of a link, so its maker can't hold it up with changes", () => {
  expect(requireSeen(newLink("any"), undefined)).toMatchObject({ revision: undefined });
});
