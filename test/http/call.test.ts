import { expect, test } from "bun:test";

import { createCalls, type Handler } from "../../src/http/call.ts";
import { createClientReader } from "../../src/http/client.ts";
import { createDomains } from "../../src/http/domain.ts";
import { CURT } from "../../src/pages/assets/branding.ts";

/** Answers one request with `handle`. Host 0.0.0.0 makes it read the client's address from the connection. */
async function answerOf(handle: Handler, method = "GET") {
  const clientOf = createClientReader({
    host: "0.0.0.0",
    trustedProxies: [],
    countryOf: (address) => `country of ${address}`,
  });
  let lookedUp = 0;
  const callOf = createCalls({
    domain: createDomains({ baseUrl: "https://한글.example", domains: [] }, CURT)[0],
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

test("a call looks up its client once, and only when asked", async () => {
  expect((await answerOf(() => new Response("nobody asked"))).lookedUp).toBe(0);
  const answer = await answerOf((call) => {
    const first = call.client();
    return Response.json([first, call.client() === first]);
  });
  expect(answer.lookedUp).toBe(1);
  expect(JSON.parse(answer.text)).toEqual([{ address: "127.0.0.1", country: "country of 127.0.0.1" }, true]);
});

test("a HEAD request has a client, too", async () => {
  const handle: Handler = (call) => new Response(null, { headers: { "X-Client": call.client().address } });
  expect((await answerOf(handle, "HEAD")).header).toBe("127.0.0.1");
});

test("a call's domain makes the short address of its code", async () => {
  const { text } = await answerOf(({ domain, code }) =>
    Response.json([domain.baseUrl, domain.origin, domain.shortUrl(code)]),
  );
  expect(JSON.parse(text)).toEqual([
    "https://한글.example",
    "https://xn--bj0bj06e.example",
    "https://한글.example/%23️⃣/",
  ]);
});
