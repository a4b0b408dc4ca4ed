import { expect, test } from "bun:test";

import { createCalls, type Handler } from "../../src/http/call.ts";
import { createClientReader } from "../../src/http/client.ts";
import { createDomains } from "../../src/http/domain.ts";
import { CURT } from "../../src/pages/assets/branding.ts";

/** Serves one request with `handle`. Host 0.0.0.0 makes it read the client's address from the connection. */
async function serveOnce(handle: Handler, method = "GET") {
  const clientOf = createClientReader({
    host: "0.0.0.0",
    trustedProxies: [],
    countryOf: (address) => `country of ${address}`,
  });
  let lookedUp = 0;
  const callOf = createCalls({
    domain: createDomains({ baseUrl: "https://한글.example", domains: [], codeCase: "match" }, CURT)[0],
    clientOf(request, server) {
      lookedUp++;
      return clientOf(request, server);
    },
  });
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request, bun) => handle(callOf(request, bun, "#️⃣")),
  });
  try {
    const response = await fetch(`http://127.0.0.1:${server.port}/`, { method });
    return { lookedUp, text: await response.text(), header: response.headers.get("x-client") };
  } finally {
    await server.stop(true);
  }
}

test("a call looks up its client once, and only if a handler reads it", async () => {
  expect((await serveOnce(() => new Response("unused"))).lookedUp).toBe(0);
  const result = await serveOnce((call) => {
    const first = call.client();
    return Response.json([first, call.client() === first]);
  });
  expect(result.lookedUp).toBe(1);
  expect(JSON.parse(result.text)).toEqual([{ address: "127.0.0.1", country: "country of 127.0.0.1" }, true]);
});

test("a call of a HEAD request has a client", async () => {
  const handle: Handler = (call) => new Response(null, { headers: { "X-Client": call.client().address } });
  expect((await serveOnce(handle, "HEAD")).header).toBe("127.0.0.1");
});

test("a call's domain builds the short address of its code", async () => {
  const { text } = await serveOnce(({ domain, code }) =>
    Response.json([domain.baseUrl, domain.origin, domain.shortUrl(code)]),
  );
  expect(JSON.parse(text)).toEqual([
    "https://한글.example",
    "https://xn--bj0bj06e.example",
    "https://한글.example/%23️⃣/",
  ]);
});
