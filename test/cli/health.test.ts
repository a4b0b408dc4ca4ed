import { describe, expect, test } from "bun:test";
import { join } from "node:path";

import { startService, startProgram } from "../support/service.ts";
import { run } from "./run.ts";

describe("curt health", () => {
  test("checks the server of its settings, or the one in CURT_URL", async () => {
    await using curt = await startService({ HOST: "0.0.0.0" });
    const { port } = new URL(curt.origin);
    const ready = { code: 0, stdout: "ready\n", stderr: "" };
    for (const HOST of ["0.0.0.0", "127.0.0.1", ""])
      expect(await run(["health"], { HOST, PORT: port })).toEqual(ready);
    expect(await run(["health"], { PORT: "1", CURT_URL: curt.origin })).toEqual(ready);
  });

  test("fails while the server stops, if none listens, and if CURT_URL is no address", async () => {
    const curt = await startProgram({ DRAIN_WAIT: "2m" });
    curt.expectFaults();
    curt.kill("SIGTERM");
    while ((await curt.fetch("/readyz")).status === 200) await Bun.sleep(10);
    const environment = { CURT_URL: curt.origin };
    const stopping = await run(["health"], environment);
    expect(stopping.code).toBe(1);
    expect(stopping.stderr).toBe(`curt: not ready: ${curt.origin}/readyz answers 503\n`);
    curt.kill("SIGINT");
    await curt.exited;
    const gone = await run(["health"], environment);
    expect(gone.code).toBe(1);
    expect(gone.stderr).toStartWith(
      `curt: not ready: ${curt.origin}/readyz does not answer: nothing listens there. `,
    );
    expect((await run(["health"], { CURT_URL: "here" })).code).toBe(2);
  });

  test("fails if the address redirects", async () => {
    using server = Bun.serve({
      port: 0,
      fetch: ({ url }) => (url.endsWith("/ready") ? new Response() : Response.redirect("/ready")),
    });
    const CURT_URL = `http://localhost:${server.port}`;
    const stderr = `curt: not ready: ${CURT_URL}/readyz answers 302\n`;
    expect(await run(["health"], { CURT_URL })).toEqual({ code: 1, stdout: "", stderr });
  });

  test("accepts any certificate of its own server, but not of the one in CURT_URL", async () => {
    const pem = await Bun.file(join(import.meta.dir, "../http/certificates/first.pem")).text();
    using server = Bun.serve({
      port: 0,
      tls: { key: pem, cert: pem },
      routes: { "/readyz": new Response() },
    });
    const PORT = String(server.port);
    const settings = { HOST: "::", PORT, TLS_CERT: "/etc/curt/certificate.pem" };
    expect((await run(["health"], settings)).stdout).toBe("ready\n");
    // With CURT_URL, the certificate must match.
    const { code, stderr } = await run(["health"], { CURT_URL: `https://localhost:${PORT}` });
    expect([code, stderr]).toEqual([1, expect.stringContaining("certificate")]);
  });
});
