import { expect, test } from "bun:test";

import type { Code } from "../src/links/code.ts";
import { openStoreOf, type Running, startProgram } from "./service.ts";

/** What is promised: every process applies a decision within a second of its commit. */
const PROMISED_MS = 1000;
/**
 * `ROUNDS=5 npm test -- test/takedown.test.ts` does more. One shows whether each process follows decisions, because the load
 * reaches all of them; more of them meet more moments between two looks at the changes.
 */
const ROUNDS = Number(process.env["ROUNDS"] ?? 1);
const CONNECTIONS = 6;
const PROCESSES = 4;

/** Follows a link again and again, each time over a new connection, so that every process is asked. */
function follow(program: Running, code: string) {
  const following = { isDone: false, count: 0, lastRedirectMs: 0 };
  async function goOn(): Promise<void> {
    while (!following.isDone) {
      const { status } = await program.fetch(`/${code}`, { headers: { Connection: "close" } });
      following.count++;
      if (status === 302) following.lastRedirectMs = performance.now();
      else if (status !== 410) throw new Error(`${code}: ${status}`);
    }
  }
  const all = Promise.all(Array.from({ length: CONNECTIONS }, goOn));
  return {
    count: () => following.count,
    async stop(): Promise<number> {
      following.isDone = true;
      await all;
      return following.lastRedirectMs;
    },
  };
}

type Store = Awaited<ReturnType<typeof openStoreOf>>;
const DECISION = { who: "shell", atMs: 1, reason: "phishing" } as const;

test.each<[string, (store: Store, code: string, host: string) => Promise<unknown>]>([
  [
    "a link is disabled",
    async (store, code) => {
      const link = await store.find(code as Code);
      expect(await store.disable(link === undefined ? [] : [link], DECISION)).toHaveLength(1);
    },
  ],
  [
    "a host is blocked",
    async (store, _code, host) =>
      expect(await store.blockHost({ host, reason: "phishing" }, DECISION)).toBeTrue(),
  ],
])("once %s, no process redirects any more a second later, under load", async (_, takeDown) => {
  await using program = await startProgram({ PROCESSES: String(PROCESSES) });
  await using store = await openStoreOf(program);
  for (let round = 0; round < ROUNDS; round++) {
    const code = `bad${round}`;
    const host = `bad${round}.example`;
    await program.shorten({ original_url: `https://www.${host}/`, custom_code: code });
    await program.shorten({ original_url: "https://good.example/", custom_code: `good${round}` });
    const load = follow(program, code);
    const others = follow(program, `good${round}`);
    while (load.count() < 30 * PROCESSES) await Bun.sleep(10);
    await takeDown(store, code, host);
    const decidedMs = performance.now();
    await Bun.sleep(PROMISED_MS * 1.5);
    const lastRedirectMs = await load.stop();
    const lastOtherMs = await others.stop();
    expect(lastRedirectMs).toBeGreaterThan(0);
    expect(lastRedirectMs - decidedMs).toBeLessThan(PROMISED_MS);
    expect(lastOtherMs - decidedMs).toBeGreaterThan(PROMISED_MS);
  }
});
