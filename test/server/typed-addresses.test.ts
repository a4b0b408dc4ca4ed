import { afterEach, describe, expect } from "bun:test";

import { ENGINES } from "../events/engines.ts";
import { testOnLinux } from "../support/linux.ts";
import { callApi } from "../support/managed-links.ts";
import { all, children, killStarted, openEach, startSeveral } from "./processes.ts";

const WIKI = "https://d.example/wiki";

afterEach(killStarted);

describe.each(ENGINES)("several processes over %s", (_, settingsOf) => {
  testOnLinux("find a new link in any capitals, with and without a path", async () => {
    await using program = await startSeveral({
      ...(await settingsOf()),
      CODE_CASE: "ignore",
      POSTURE: "private",
    });
    using connections = await openEach(program, children(program));
    const create = (code: string, forward_path: boolean) =>
      callApi(program, "POST", "/api/v1/links", { body: { target: WIKI, code, forward_path } });
    expect((await create("Team-Wiki", true)).status).toBe(201);
    expect((await create("TEAM-WIKI", true)).status).toBe(409);
    expect((await create("Plain", false)).status).toBe(201);
    for (const [path, status, location] of [
      ["/team-wiki", 302, WIKI],
      ["/TEAM-wiki/a/b", 302, `${WIKI}/a/b`],
      ["/Team-Wiki/%252e%252e/a", 404, undefined],
      ["/PLAIN", 302, WIKI],
      ["/plain/a", 404, undefined],
    ] as const)
      for (let times = 0; times < 2; times++)
        expect(await connections.get(path), path).toEqual(
          all(location === undefined ? { status } : { status, location }),
        );
  });
});
