import { expect, test } from "bun:test";

import { identifyStore, openStatements } from "../../src/store/open.ts";
import { createManagedLink } from "../support/managed-links.ts";
import { startService, untilLogged } from "../support/service.ts";

test("a failing task of the minute doesn't stop the others", async () => {
  await using curt = await startService({}, { limits: { tidyEveryMs: 20 } });
  const { run, close } = await openStatements(curt.database, identifyStore(curt.database));
  await using _ = { [Symbol.asyncDispose]: close };
  // Without it, statistics can't age.
  await run("DROP TABLE salts");
  await untilLogged(curt, "salts");
  await createManagedLink(curt);
  let counted: readonly object[] = [];
  for (let tries = 0; counted.length === 0 && tries < 200; tries++) {
    await Bun.sleep(20);
    ({ rows: counted } = await run<object>("SELECT name, count FROM counters"));
  }
  expect(counted).toEqual([{ name: "created", count: 1 }]);
});
