import { describe, expect, test } from "bun:test";

import { createClient, CurtError } from "../../client/client.ts";
import type { LinkRequest } from "../../client/types.ts";
import { startService } from "../support/service.ts";
import { thrownBy } from "./failure.ts";

function* linksTo(count: number, target = "https://example.com/"): Generator<LinkRequest> {
  for (let nth = 0; nth < count; nth++) yield { target: `${target}${nth}` };
}

describe("a batch of @curt/client", () => {
  test("creates any number of links, at most 500 links and 1 MiB per request, and returns results in order", async () => {
    await using curt = await startService();
    const bodies: string[] = [];
    const client = createClient({
      baseUrl: curt.origin,
      fetch: (url, init) => {
        if (typeof init.body === "string") bodies.push(init.body);
        return fetch(url, init);
      },
    });
    const wanted = linksTo(1100).toArray();
    wanted[700] = { target: "ftp://example.com/" };
    const odd = { target: "https://example.com/", colour: "red", size: 7 };
    wanted[701] = odd;
    const results = await Array.fromAsync(client.links.createAll(wanted));
    expect(results).toHaveLength(1100);
    for (const [nth, link] of results.entries()) {
      if (nth === 700)
        expect(link).toMatchObject({
          name: "CurtError",
          status: 400,
          reason: "target.scheme",
          requestId: expect.stringMatching(/^\S+$/),
          errors: [{ field: "target", reason: "target.scheme" }],
        });
      else if (nth === 701)
        expect(link).toMatchObject({
          reason: "field.unknown",
          errors: [{ field: "colour" }, { field: "size" }],
        });
      else expect(link).toMatchObject({ target: `https://example.com/${nth}`, state: "active" });
    }
    expect(bodies.map((body) => (JSON.parse(body) as object[]).length)).toEqual([500, 500, 100]);

    bodies.length = 0;
    const long = linksTo(300, `https://example.com/${"a".repeat(5000)}`);
    expect(
      (await Array.fromAsync(client.links.createAll(long))).every((link) => !(link instanceof CurtError)),
    ).toBeTrue();
    expect(bodies.length).toBeGreaterThan(1);
    for (const body of bodies) expect(Buffer.byteLength(body)).toBeLessThan(1024 * 1024);
    expect(await Array.fromAsync(client.links.createAll([]))).toEqual([]);
  });

  test("takes links from a generator, and no more than it needs", async () => {
    await using curt = await startService();
    const client = createClient({ baseUrl: curt.origin });
    let taken = 0;
    async function* endless(): AsyncGenerator<LinkRequest> {
      for (;;) yield { target: `https://example.com/${taken++}` };
    }
    let created = 0;
    for await (const link of client.links.createAll(endless())) {
      expect(link).not.toBeInstanceOf(CurtError);
      if (++created === 600) break;
    }
    expect(taken).toBeLessThanOrEqual(1001);
  });

  test("shrinks its requests to fit a rate limit, and throws if it would have to wait too long", async () => {
    await using curt = await startService({ LIMIT_CREATE: "40/1h" });
    const client = createClient({ baseUrl: curt.origin });
    const links: unknown[] = [];
    const thrown = await thrownBy(
      (async () => {
        for await (const link of client.links.createAll(linksTo(100))) links.push(link);
      })(),
    );
    expect(thrown).toMatchObject({ name: "CurtError", status: 429, reason: "limit.create" });
    // The limit never allows 500 at once, nor 100 or 50.
    expect(links).toHaveLength(25);
  });

  test("creates each link once per idempotency key", async () => {
    await using curt = await startService();
    const client = createClient({ baseUrl: curt.origin });
    const codes = async (options = {}) =>
      (await Array.fromAsync(client.links.createAll(linksTo(600), options))).map(
        (link) => "code" in link && link.code,
      );
    const first = await codes({ idempotencyKey: "import-of-november" });
    expect(new Set(first).size).toBe(600);
    expect(await codes({ idempotencyKey: "import-of-november" })).toEqual(first);
    expect(await codes()).not.toEqual(first);
  });
});
