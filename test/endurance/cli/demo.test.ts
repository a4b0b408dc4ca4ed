import { expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { freePort } from "../../support/free-port.ts";
import { ROOT, temporaryFolder } from "../../support/service.ts";

/** Runs `curt demo`, whose stores last for a moment. */
const PROGRAM = `
if (process.argv[2] === "serve-demo") await import(${JSON.stringify(join(ROOT, "src/main.ts"))});
const { demo } = await import(${JSON.stringify(join(ROOT, "src/cli/demo.ts"))});
process.exit(await demo(process.env, { positionals: [], options: {} }, 1));
`;

test("curt demo serves a store full of links, refuses real destinations, forgets everything, and leaves nothing", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "demo.ts");
  writeFileSync(file, PROGRAM);
  using stores = temporaryFolder();
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const child = Bun.spawn([process.execPath, file], {
    env: { ...process.env, PORT: `${port}`, BASE_URL: origin, LOG_LEVEL: "error", TMPDIR: stores.path },
    stdio: ["ignore", "inherit", "pipe"],
  });
  const request = async (path: string, init: RequestInit = {}): Promise<Response> => {
    for (;;) {
      const response = await fetch(origin + path, { redirect: "manual", ...init }).catch(() => undefined);
      if (response !== undefined) return response;
      await Bun.sleep(20);
    }
  };
  const create = async (original_url: string) =>
    (
      await request("/api/v1/shorten", {
        method: "POST",
        body: JSON.stringify({ original_url, custom_code: "mine" }),
      })
    ).status;

  expect((await request("/launch")).status).toBe(302);
  for (const target of [
    "https://bank.com/",
    "https://notexample.com/",
    "https://example.com.bank.com/",
    "http://127.0.0.1/",
  ])
    expect([target, await create(target)]).toEqual([target, 400]);
  expect(await create("https://www.example.com/")).toBe(201);
  // The next store takes its place.
  while ((await request("/mine")).status !== 404) await Bun.sleep(50);
  expect((await request("/launch")).status).toBe(302);
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
  expect(readdirSync(stores.path).filter((name) => name.startsWith("curt-demo-"))).toEqual([]);
});
