import { expect } from "bun:test";

import { checkStore } from "../../../src/store/open.ts";
import { sendUntilAnswered } from "../../again.ts";
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
      const bodies = Array.from({ length: MANY }, (_, nth) => ({ target: `${target}/${round}/${nth}` }));
      const again = {
        path: isBatch ? "/api/v1/links/batch" : "/api/v1/links",
        body: isBatch ? bodies : bodies[0],
        key: `round ${round}`,
      };
      const answered = { count: 0 };
      const sent = sendUntilAnswered(
        again,
        REQUESTS,
        () => program,
        () => answered.count++,
      );
      // At any moment: before the first answer, or between two of them.
      const enough = Math.floor(Math.random() * Math.random() * REQUESTS);
      while (answered.count < enough) await Bun.sleep(1);
      const [killed = 0] = childrenOf(program.pid).toSorted(() => Math.random() - 0.5);
      expect(killed).toBeGreaterThan(0);
      signal(killed, "SIGKILL");
      const { answer, tries: needed } = await sent;
      tries += needed;
      const made = isBatch ? answer["data"].results.map(({ data }: any) => data) : [answer["data"]];
      links += made.length;
      expect(made.map((link: any) => link.target)).toEqual(
        (isBatch ? bodies : bodies.slice(0, 1)).map((body) => body.target),
      );
      while (childrenOf(program.pid).length < 2) await Bun.sleep(5);
    }
    expect(tries).toBeGreaterThan(ROUNDS * REQUESTS);
    expect(await checkStore(program.database)).toEqual({ links, damage: [] });
  },
);
