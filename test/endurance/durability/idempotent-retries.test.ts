import { expect } from "bun:test";

import { checkStore } from "../../../src/store/open.ts";
import { testOnLinux } from "../../support/linux.ts";
import { childrenOf, signal } from "../../support/processes.ts";
import { sendUntilTaken } from "../../support/retry.ts";
import { startProgram, temporaryFolder } from "../../support/service.ts";

const ROUNDS = 4;
const REQUESTS = 200;
const MANY = 3;
const target = "https://example.com/once";

testOnLinux(
  `${REQUESTS} requests with one idempotency key create their links once and get equal responses, even if a process is killed`,
  async () => {
    using folder = temporaryFolder();
    await using program = await startProgram({ PROCESSES: "2" }, { folder: folder.path });
    program.expectFaults();
    let links = 0;
    let tries = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const isBatch = round % 2 === 1;
      const bodies = Array.from({ length: isBatch ? MANY : 1 }, (_, nth) => ({
        target: `${target}/${round}/${nth}`,
      }));
      const path = isBatch ? "/api/v1/links/batch" : "/api/v1/links";
      const headers = { "Content-Type": "application/json", "Idempotency-Key": `the key of round ${round}` };
      const body = JSON.stringify(isBatch ? bodies : bodies[0]);
      const responses = { count: 0 };
      async function send() {
        const { response, text } = await sendUntilTaken(async () => {
          tries++;
          try {
            const attempt = await program.fetch(path, { method: "POST", headers, body });
            return { status: attempt.status, response: attempt, text: await attempt.text() };
          } catch {
            return { status: 503, response: undefined, text: "" };
          }
        });
        responses.count++;
        return [response?.status, response?.headers.get("location"), response?.headers.get("link"), text];
      }
      const sent = Promise.all(Array.from({ length: REQUESTS }, send));
      // At any moment: before the first response, or between two of them.
      const enough = Math.floor(Math.random() * Math.random() * REQUESTS);
      while (responses.count < enough) await Bun.sleep(1);
      const [killed = 0] = childrenOf(program.pid).toSorted(() => Math.random() - 0.5);
      expect(killed).toBeGreaterThan(0);
      signal(killed, "SIGKILL");
      const all = await sent;
      for (const one of all) expect(one).toEqual(all[0] ?? []);
      const { data } = JSON.parse(String(all[0]?.at(-1)));
      const created = isBatch ? data.results.map((result: any) => result.data) : [data];
      links += created.length;
      expect(created.map((link: any) => link.target)).toEqual(bodies.map((one) => one.target));
      while (childrenOf(program.pid).length < 2) await Bun.sleep(5);
    }
    expect(tries).toBeGreaterThan(ROUNDS * REQUESTS);
    expect(await checkStore(program.database)).toEqual({ links, damage: [], unsendable: [] });
  },
);
