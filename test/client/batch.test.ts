import { describe, expect, test } from "bun:test";

import { createClient, CurtError } from "../../client/client.ts";
import { type LinkRequest } from "../../client/types.ts";
import { startHere } from "../service.ts";
import { thrownBy } from "./failure.ts";

function* linksTo(count: number, target = "https://example.com/"): Generator<LinkRequest> {
  for (let nth = 0; nth < count; nth++) yield { target: `${target}${nth}` };
}

describe("a batch of @curt/client", () => {
  test("makes any number of links, a few hundred at once, and tells of each in order", async () => {
    await using curt = await startHere();
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
    const told = await Array.fromAsync(client.links.createAll(wanted));
    expect(told).toHaveLength(1100);
    for (const [nth, link] of told.entries()) {
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

  test("takes links as they come, and asks for no more than it needs", async () => {
    await using curt = await startHere();
    const client = createClient({ baseUrl: curt.origin });
    let asked = 0;
    async function* endless(): AsyncGenerator<LinkRequest> {
      for (;;) yield { target: `https://example.com/${asked++}` };
    }
    let told = 0;
    for await (const link of client.links.createAll(endless())) {
      expect(link).not.toBeInstanceOf(CurtError);
      if (++told === 600) break;
    }
    expect(asked).toBeLessThanOrEqual(1001);
  });

  test("stays within what a limit lets through at once, and ends where it has to wait for too long", async () => {
    await using curt = await startHere({ LIMIT_CREATE: "40/1h" });
    const client = createClient({ baseUrl: curt.origin });
    const told: unknown[] = [];
    const thrown = await thrownBy(
      (async () => {
        for await (const link of client.links.createAll(linksTo(100))) told.push(link);
      })(),
    );
    expect(thrown).toMatchObject({ name: "CurtError", status: 429, reason: "limit.create" });
    // 500 is more than the limit ever lets through, and so are 100 and 50.
    expect(told).toHaveLength(25);
  });

  test("makes each link once for a key of the caller's", async () => {
    await using curt = await startHere();
    const client = createClient({ baseUrl: curt.origin });
    const codes = async (options = {}) =>
      (await Array.fromAsync(client.links.createAll(linksTo(600), options))).map(
        (link) => "code" in link && link.code,
      );
    const first = await codes({ idempotencyKey: "import" });
    expect(new Set(first).size).toBe(600);
    expect(await codes({ idempotencyKey: "import" })).toEqual(first);
    expect(await codes()).not.toEqual(first);
  });
});
