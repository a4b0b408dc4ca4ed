import { describe, expect, test } from "bun:test";

import { type ClientOptions, createClient } from "../../client/client.ts";
import { startProxy } from "../support/proxy.ts";
import { startService } from "../support/service.ts";
import { failureOf, thrownBy } from "./failure.ts";

const TARGET = "https://example.com/";

/** A client of this instance, and the requests that it has sent. */
function createWatchedClient(baseUrl: string, options: Partial<ClientOptions> = {}) {
  const sent: RequestInit[] = [];
  const client = createClient({
    baseUrl,
    fetch: (url, init) => {
      sent.push(init);
      return fetch(url, init);
    },
    ...options,
  });
  return { client, sent, keys: () => sent.map(({ headers }) => new Headers(headers).get("idempotency-key")) };
}

describe.concurrent("@curt/client retries", () => {
  test("if the service can't be reached, with one idempotency key per call", async () => {
    await using curt = await startService();
    await using proxy = await startProxy(Number(new URL(curt.origin).port));
    proxy.lead(undefined);
    const { client, keys } = createWatchedClient(`http://127.0.0.1:${proxy.port}`);
    const creation = client.shorten(TARGET);
    while (keys().length < 2) await Bun.sleep(5);
    proxy.lead(Number(new URL(curt.origin).port));
    expect((await creation).original_url).toBe(TARGET);
    const attempts = keys().length;
    expect(new Set(keys()).size).toBe(1);
    await client.shorten(TARGET);
    expect(new Set(keys()).size).toBe(2);
    expect(keys()).toHaveLength(attempts + 1);
    await client.shorten(TARGET, {}, { idempotencyKey: "my-own-unguessed-key" });
    expect(keys().at(-1)).toBe('"my-own-unguessed-key"');
  });

  test("if no response arrives in time", async () => {
    await using curt = await startService();
    await using proxy = await startProxy(Number(new URL(curt.origin).port));
    const { client, sent } = createWatchedClient(`http://127.0.0.1:${proxy.port}`, { timeoutMs: 9_000 });
    await client.checkCode("a");
    // The next call reuses the connection, which delivers nothing from now on.
    proxy.silence();
    expect((await client.checkCode("b")).available).toBeTrue();
    expect(sent.length).toBeGreaterThan(2);
  });

  test("after the wait that a rate limit requires", async () => {
    await using curt = await startService({ LIMIT_CREATE: "1/1s" }, { standsStill: true });
    const statuses: number[] = [];
    const { client } = createWatchedClient(curt.origin, {
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        statuses.push(response.status);
        // A client that waits less than the required second comes too soon.
        if (response.status === 429) setTimeout(() => curt.advance(1000), 990);
        return response;
      },
    });
    const links = [await client.shorten(TARGET), await client.shorten(TARGET)];
    expect(new Set(links.map(({ code }) => code)).size).toBe(2);
    expect(statuses).toEqual([201, 429, 201]);
  });
});

describe.concurrent("@curt/client gives up", () => {
  test("if it would have to wait longer than the call may take", async () => {
    await using curt = await startService({ LIMIT_CREATE: "1/1h" });
    const { client, sent } = createWatchedClient(curt.origin);
    await client.shorten(TARGET);
    const error = await failureOf(client.shorten(TARGET));
    expect(error.status).toBe(429);
    expect(error.retryAfterMs).toBeGreaterThan(60_000);
    expect(sent).toHaveLength(2);
  });

  test("after five attempts, or when the time is over", async () => {
    const answer = () => new Response("busy", { status: 503, headers: { "Retry-After": "0" } });
    using busy = Bun.serve({ port: 0, fetch: answer });
    const { client, sent } = createWatchedClient(busy.url.href);
    expect(await failureOf(client.links.get("a"))).toMatchObject({
      status: 503,
      reason: "",
      retryAfterMs: 0,
    });
    expect(sent).toHaveLength(5);

    using silent = Bun.serve({ port: 0, fetch: () => new Promise<Response>(() => {}) });
    const waiting = createWatchedClient(silent.url.href, { timeoutMs: 300 });
    expect(await failureOf(waiting.client.links.get("a"))).toMatchObject({ status: 0, reason: "timeout" });
    expect(waiting.sent.length).toBeLessThanOrEqual(3);
    const nobody = createWatchedClient("http://127.0.0.1:1");
    expect(await failureOf(nobody.client.links.get("a"))).toMatchObject({ status: 0, reason: "network" });
    expect(nobody.sent).toHaveLength(5);
  });

  test("when its caller aborts the call before, during or between attempts", async () => {
    const reason = new Error("changed my mind");
    const before = createWatchedClient("http://127.0.0.1:1");
    expect(await thrownBy(before.client.links.get("a", { signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(before.sent).toEqual([]);

    const during = new AbortController();
    const wait = () => {
      setTimeout(() => during.abort(reason));
      return new Promise<Response>(() => {});
    };
    using silent = Bun.serve({ port: 0, fetch: wait });
    const { client, sent } = createWatchedClient(silent.url.href);
    expect(await thrownBy(client.links.get("a", { signal: during.signal }))).toBe(reason);
    expect(sent).toHaveLength(1);

    const between = new AbortController();
    const refuse = () => {
      setTimeout(() => between.abort(reason), 50);
      return new Response("", { status: 503, headers: { "Retry-After": "20" } });
    };
    using busy = Bun.serve({ port: 0, fetch: refuse });
    const patient = createWatchedClient(busy.url.href);
    expect(await thrownBy(patient.client.links.get("a", { signal: between.signal }))).toBe(reason);
    expect(patient.sent).toHaveLength(1);
  });
});
