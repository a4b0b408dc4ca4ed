import { afterEach, describe, expect, test } from "bun:test";

import { operateAs, TOKEN } from "../admin/operator.ts";
import { ENGINES } from "../events/engines.ts";
import { callAs, createAs, named, PROXY } from "../http/people.ts";
import { TARGET } from "../support/managed-links.ts";
import { killStarted, startSeveral } from "./processes.ts";

/** Enough for both cases: two requests in one process, and one in each. */
const ROUNDS = 8;

afterEach(killStarted);

describe.each(ENGINES)("two processes over %s", (_, settingsOf) => {
  test("keep every correction when people correct or hand over a link simultaneously", async () => {
    await using program = await startSeveral({
      ...(await settingsOf()),
      ...PROXY,
      ADMIN_TOKEN: TOKEN,
      EDITORS: "everybody",
      PROCESSES: "2",
    });
    const operate = operateAs(program);
    const targetOf = async (path: string) => (await callAs(program, "mina", "GET", path)).data.target;
    for (let round = 0; round < ROUNDS; round++) {
      const { code, path } = await createAs(program, "mina");
      /** On a connection of its own, which may reach either process. */
      const change = async (name: string, body: object, headers = {}) => {
        const init = { method: "PATCH", body: JSON.stringify(body), keepalive: false };
        return (await program.fetch(path, { ...init, headers: { ...headers, ...named(name) } })).status;
      };
      /** The entries with the former and the new destination or owner, oldest first. */
      const entries = async () =>
        (await operate("GET", `links/${code}`)).data.history
          .map(({ by, replaced }: any) => [by, replaced[0].value, replaced[0].became])
          .toReversed();
      const to = (name: string) => ({ target: `${TARGET}/${name}` });

      expect(await Promise.all([change("joon", to("joon")), change("yuna", to("yuna"))])).toEqual([200, 200]);
      const [first, second] = await entries();
      expect([first, second].map(([, , became]) => became)).toEqual(
        [first, second].map(([by]) => to(by).target),
      );
      expect([first[1], second[1]]).toEqual([TARGET, first[2]]);
      expect(await targetOf(path)).toBe(second[2]);

      const seen = await program.fetch(path, { headers: named("joon") });
      const ifMatch = { "If-Match": seen.headers.get("etag") ?? "" };
      const both = ["joon", "yuna"].map((name) => change(name, to(`${name}-2`), ifMatch));
      expect((await Promise.all(both)).toSorted((one, other) => one - other)).toEqual([200, 412]);
      expect(await entries()).toHaveLength(3);

      // A hand-over ends the right of the former owner, not that of editors.
      expect(await Promise.all([change("mina", { owner: "hana" }), change("joon", to("joon-3"))])).toEqual([
        200, 200,
      ]);
      const [given, late] = await Promise.all([
        change("hana", { owner: "mina" }),
        change("hana", to("hana")),
      ]);
      expect([given, [200, 412].includes(late)]).toEqual([200, true]);
      const after = (await entries()).slice(3);
      expect(after.map(([by, , became]: string[]) => `${by} ${became}`).toSorted()).toEqual(
        [
          "mina hana",
          `joon ${TARGET}/joon-3`,
          "hana mina",
          ...(late === 200 ? [`hana ${TARGET}/hana`] : []),
        ].toSorted(),
      );
      const last = after.findLast(([, , became]: string[]) => became?.startsWith(TARGET));
      expect(await targetOf(path)).toBe(last[2]);
    }
  });
});
