import { expect } from "bun:test";

import { checkStore } from "../../../src/store/open.ts";
import { sendUntilTaken } from "../../again.ts";
import { testOnLinux } from "../../linux.ts";
import { startProgram, temporaryFolder } from "../../service.ts";
import { childrenOf, signal } from "../../signals.ts";

const ROUNDS = 4;
const REQUESTS = 200;
const MANY = 3;
const target = "https://example.com/once";

testOnLinux(
  `${REQUESTS} requests with one key make one link and get one answer, whichever process is killed meanwhile`,
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
      const headers = { "Content-Type": "application/json", "Idempotency-Key": `round ${round}` };
      const body = JSON.stringify(isBatch ? bodies : bodies[0]);
      const answered = { count: 0 };
      async function send() {
        const { response, text } = await sendUntilTaken(async () => {
          tries++;
          try {
            const tried = await program.fetch(path, { method: "POST", headers, body });
            return { status: tried.status, response: tried, text: await tried.text() };
          } catch {
            return { status: 503, response: undefined, text: "" };
          }
        });
        answered.count++;
        return [response?.status, response?.headers.get("location"), response?.headers.get("link"), text];
      }
      const sent = Promise.all(Array.from({ length: REQUESTS }, send));
      // At any moment: before the first answer, or between two of them.
      const enough = Math.floor(Math.random() * Math.random() * REQUESTS);
      while (answered.count < enough) await Bun.sleep(1);
      const [killed = 0] = childrenOf(program.pid).toSorted(() => Math.random() - 0.5);
      expect(killed).toBeGreaterThan(0);
      signal(killed, "SIGKILL");
      const answers = await sent;
      for (const answer of answers) expect(answer).toEqual(answers[0] ?? []);
      const { data } = JSON.parse(String(answers[0]?.at(-1)));
      const made = isBatch ? data.results.map((result: any) => result.data) : [data];
      links += made.length;
      expect(made.map((link: any) => link.target)).toEqual(bodies.map((one) => one.target));
      while (childrenOf(program.pid).length < 2) await Bun.sleep(5);
    }
    expect(tries).toBeGreaterThan(ROUNDS * REQUESTS);
    expect(await checkStore(program.database)).toEqual({ links, damage: [] });
  },
);
