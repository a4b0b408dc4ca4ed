import { expect, test } from "bun:test";
import { join } from "node:path";

import { untilClosed } from "../../http/raw.ts";
import { startService } from "../../support/service.ts";

// Bun closes connections without a whole request or handshake after about 12 s, and no setting lowers that.

test("silent and slow connections are closed while others are served", async () => {
  await using curt = await startService({}, { limits: { server: { idleSeconds: 1 } } });
  const starts = [
    "",
    "GET /abc HTTP/1.1\r\nHo",
    "POST /api/v1/shorten HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n{",
  ];
  const closed = Promise.all(starts.map((start) => untilClosed(curt.origin, start)));
  // A connection kept alive would be closed like the others.
  const isServed = async () => (await curt.fetch("/livez", { keepalive: false })).ok;
  expect(await isServed()).toBe(true);
  await closed;
  expect(await isServed()).toBe(true);
});

test("a connection that never finishes its TLS handshake is closed", async () => {
  const certificate = join(import.meta.dir, "../../http/certificates/first.pem");
  await using curt = await startService({ TLS_CERT: certificate, TLS_KEY: certificate });
  const starts = ["", "\u0016\u0003\u0001\u0002\u0000\u0001"];
  await Promise.all(starts.map((start) => untilClosed(curt.origin, start)));
});
