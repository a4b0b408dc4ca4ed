import { expect, spyOn, test } from "bun:test";

import { followChanges } from "../../src/links/change-feed.ts";
import { StoreUnavailable } from "../../src/links/link-store.ts";
import type { Target } from "../../src/links/target.ts";
import { createHostRules } from "../../src/moderation/host-rules.ts";
import { callApi, createManagedLink, type ManagedLink, OTHER, TARGET } from "../support/managed-links.ts";
import { disableLink, endLink, startService, startProgram, temporaryStore } from "../support/service.ts";

const original_url = "https://example.com/";
const MAX_TRIES = 3000;

test("a change of a cached link in one process takes effect in all others", async () => {
  await using program = await startProgram({ PROCESSES: "2" });
  // Use a new connection for each request, so that both processes get some of them.
  const visit = async (code: string) => {
    const { status, headers } = await program.fetch(`/${code}`, { headers: { Connection: "close" } });
    return headers.get("location") ?? status;
  };
  const links = await Promise.all(Array.from({ length: 20 }, () => createManagedLink(program)));
  for (const { code } of [...links, ...links]) expect(await visit(code)).toBe(TARGET);

  const [ended, edited, withdrawn, ...others] = links as [
    ManagedLink,
    ManagedLink,
    ManagedLink,
    ...ManagedLink[],
  ];
  await endLink(program, ended.code, Date.now() - 1);
  await callApi(program, "PATCH", edited.path, { key: edited.key, body: { target: OTHER } });
  await callApi(program, "DELETE", withdrawn.path, { key: withdrawn.key });

  for (const [{ code }, expected] of [
    [ended, 410],
    [edited, OTHER],
    [withdrawn, 410],
  ] as const) {
    const visits = () => Promise.all(Array.from({ length: 24 }, () => visit(code)));
    while (!(await visits()).every((visited) => visited === expected)) await Bun.sleep(20);
    expect(new Set(await visits())).toEqual(new Set([expected]));
  }
  for (const { code } of others) expect(await visit(code)).toBe(TARGET);
});

test("a process reads changes at least twice a second", async () => {
  const rounds: (() => void)[] = [];
  const every = setInterval;
  const collecting = spyOn(globalThis, "setInterval").mockImplementation(((round: () => void, ms: number) => {
    if (ms <= 500) rounds.push(round);
    return every(() => {}, 3_600_000);
  }) as typeof setInterval);
  await using curt = await startService();
  collecting.mockRestore();
  const status = async () => (await curt.fetch("/abc")).status;
  await curt.shorten({ original_url, custom_code: "abc" });
  expect(await status()).toBe(302);
  await disableLink(curt, "abc", "spam");
  expect(await status()).toBe(302);
  for (const round of rounds) round();
  for (let tries = 0; (await status()) !== 410; tries++) {
    expect(tries).toBeLessThan(MAX_TRIES);
    await Bun.sleep(10);
  }
});

const decision = { who: "api", atMs: 1 } as const;
const evil = "https://evil.example/" as Target;

const memory = { forget: () => {}, forgetAll: () => {} };

test("followChanges reads host rules that changed before its start", async () => {
  await using store = await temporaryStore();
  const hostRules = createHostRules(store);
  await hostRules.read();
  await store.blockHost({ host: "evil.example", reason: "spam" }, decision);
  await followChanges(store, memory, hostRules.read);
  expect(hostRules.blocked(evil)).toBe("spam");
});

test("changed host rules are read before caches are cleared, and again next time if that fails", async () => {
  await using store = await temporaryStore();
  const hostRules = createHostRules(store);
  const away = { is: false };
  const reasons: unknown[] = [];
  const forgetAll = () => void reasons.push(hostRules.blocked(evil));
  const changes = await followChanges(store, { ...memory, forgetAll }, () =>
    away.is ? Promise.reject(new StoreUnavailable("away")) : hostRules.read(),
  );
  await store.blockHost({ host: "evil.example", reason: "spam" }, decision);
  away.is = true;
  expect(await changes.read().catch(String)).toBe("StoreUnavailable: away");
  expect(reasons).toEqual([]);
  away.is = false;
  await changes.read();
  expect(reasons).toEqual(["spam"]);
  await changes.read();
  expect(reasons).toEqual(["spam"]);
});
