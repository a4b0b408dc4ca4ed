import { describe, expect, test } from "bun:test";
import { join } from "node:path";

import { createKey, orderCertificate } from "../../src/https/acme.ts";
import { freePort } from "../free-port.ts";
import { BASE_URL, ROOT, temporaryFolder } from "../service.ts";

describe("a certificate authority that fails", () => {
  test.each([
    ["that never ends", 1, 64 * 1024, "exceeded"],
    ["of one byte now and then", 20, 1, "took too long"],
  ])("an answer %s does not stop the renewals", async (_, everyMs, bytes, trouble) => {
    const chunk = new Uint8Array(bytes).fill(32);
    using server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: () =>
        new Response(
          new ReadableStream({
            async pull(controller) {
              await Bun.sleep(everyMs);
              controller.enqueue(chunk);
            },
          }),
        ),
    });
    const ordered = await orderCertificate({
      directory: `http://127.0.0.1:${server.port}/directory`,
      accountKey: createKey(),
      contact: null,
      hosts: ["curt.example"],
      challenges: new Map(),
      nowMs: Date.now,
      limitMs: bytes === 1 ? 300 : 60_000,
    });
    expect(ordered).toMatchObject({ trouble: expect.stringContaining(trouble) });
  });

  test("while it waits for its first certificate, SIGUSR2 does not end it and SIGTERM does", async () => {
    using folder = temporaryFolder();
    const settings = {
      HTTPS: "auto",
      HOST: "127.0.0.1",
      PORT: "0",
      HTTP_PORT: "0",
      BASE_URL,
      // Nothing listens there.
      ACME_DIRECTORY: `https://127.0.0.1:${await freePort()}/`,
      DATABASE_URL: `sqlite:${join(folder.path, "curt.db")}`,
    };
    const child = Bun.spawn([process.execPath, join(ROOT, "src/main.ts"), "serve"], {
      env: { ...process.env, ...settings },
      stdout: "pipe",
      stderr: "inherit",
    });
    let logged = "";
    const decoder = new TextDecoder();
    for await (const chunk of child.stdout) {
      logged += decoder.decode(chunk, { stream: true });
      if (logged.includes("SIGUSR2 is ignored")) child.kill("SIGTERM");
      else if (logged.includes("could not get a certificate")) child.kill("SIGUSR2");
    }
    expect(await child.exited).toBe(0);
    expect(logged).toContain("SIGUSR2 is ignored");
    expect(logged).toContain("ECONNREFUSED");
  });
});
