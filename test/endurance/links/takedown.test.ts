import { expect, test } from "bun:test";

import type { Code } from "../../../src/links/code.ts";
import { openStoreOf, startProgram } from "../../service.ts";
import { applyInTime, follow, PROCESSES } from "./within-a-second.ts";

/**
 * `ROUNDS=5 npm test -- test/endurance/links/takedown.test.ts` does more. One shows whether each process follows decisions, because the load
 * reaches all of them; more of them meet more moments between two looks at the changes.
 */
const ROUNDS = Number(process.env["ROUNDS"] ?? 1);

type Store = Awaited<ReturnType<typeof openStoreOf>>;
const DECISION = { who: "api", atMs: 1, reason: "phishing" } as const;

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
  await program.shorten({ original_url: "https://good.example/", custom_code: "good" });
  const others = follow(program, "good", ({ status }) => {
    if (status !== 302) throw new Error(`good: ${status}`);
  });
  await applyInTime(
    program,
    ROUNDS,
    async (round) => {
      const [code, host] = [`bad${round}`, `bad${round}.example`];
      await program.shorten({ original_url: `https://www.${host}/`, custom_code: code });
      return { code, change: () => takeDown(store, code, host) };
    },
    ({ status }) => {
      if (status !== 302 && status !== 410) throw new Error(`bad: ${status}`);
      return status === 302;
    },
  );
  // Those that are not concerned redirect all the time.
  await others.untilEnough();
  await others.stop();
});
