import { expect } from "bun:test";

import { ANYWHERE, steerConnections } from "../../src/http/steering.ts";
import { freePort } from "../free-port.ts";
import { testOnLinux } from "../linux.ts";

/** Each could go to either of two by chance. */
const CONNECTIONS = 40;

testOnLinux("new connections go to those that are told, until these are gone", async () => {
  const port = await freePort();
  const serve = (name: string) =>
    Bun.serve({ port, hostname: "127.0.0.1", reusePort: true, fetch: () => new Response(name) });
  const servers = ["first", "second", "third"].map(serve);
  const ask = async () => {
    const answers = Array.from({ length: CONNECTIONS }, async () =>
      (await fetch(`http://127.0.0.1:${port}/`, { keepalive: false })).text(),
    );
    return new Set(await Promise.all(answers));
  };
  try {
    expect((await ask()).size).toBe(3);
    expect(await steerConnections({ first: 1, count: 2 })).toBeTrue();
    expect(await ask()).toEqual(new Set(["second", "third"]));
    expect(await steerConnections({ first: 1, count: 1 })).toBeTrue();
    expect(await ask()).toEqual(new Set(["second"]));
    expect(await steerConnections(ANYWHERE)).toBeTrue();
    expect((await ask()).size).toBe(3);
    expect(await steerConnections({ first: 1, count: 1 })).toBeTrue();
    await servers[1]?.stop(true);
    await servers[2]?.stop(true);
    expect(await ask()).toEqual(new Set(["first"]));
  } finally {
    for (const server of servers) await server.stop(true);
  }
});
