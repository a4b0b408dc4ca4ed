import { expect, test } from "bun:test";

import { startHere } from "../../service.ts";

const FLOODERS = 64;
const LINKS = 20;
const LIMITS = { LIMIT_CREATE: "30/1h", LIMIT_UNKNOWN: "5/1h", LIMIT_VIEW: "5/1h" };
const from = (address: string) => ({ "X-Forwarded-For": address });
const target = (nth: number) => `https://example.com/${nth}`;

test("a client that goes on although it is refused does not keep others from being answered", async () => {
  await using curt = await startHere({ TRUSTED_PROXIES: "127.0.0.1", ...LIMITS });
  const visit = (code: string, address: string) => curt.fetch(`/${code}`, { headers: from(address) });
  const make = (nth: number, address: string) =>
    curt.shorten({ original_url: target(nth), custom_code: `link-${nth}` }, from(address));
  for (let nth = 0; nth < LINKS; nth++) expect((await make(nth, "192.0.2.2")).status).toBe(201);

  const asked = [
    (nth: number) => `/none${nth}`,
    (nth: number) => `/link-1+?x=${nth}`,
    (nth: number) => `/link-1.svg?x=${nth}`,
    (nth: number) => `/api/v1/links/link-1/stats?x=${nth}`,
    (nth: number) => `/api/v1/codes/free${nth}`,
  ];
  const answers = new Map<number, number>();
  const over = new AbortController();
  let asks = 0;
  async function flood(): Promise<void> {
    while (!over.signal.aborted) {
      const nth = asks++;
      const path = asked[nth % asked.length]?.(nth) ?? "";
      const response = await curt.fetch(path, { headers: from("192.0.2.1") });
      await response.arrayBuffer();
      answers.set(response.status, (answers.get(response.status) ?? 0) + 1);
      if (response.status === 429) expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    }
  }
  const flooding = Promise.all(Array.from({ length: FLOODERS }, flood));

  try {
    while ((answers.get(429) ?? 0) < FLOODERS) await Bun.sleep(1);
    for (let round = 0; round < 10; round++)
      for (let nth = 0; nth < LINKS; nth++) {
        const { status, headers } = await visit(`link-${nth}`, "192.0.2.3");
        expect([status, headers.get("location")]).toEqual([302, target(nth)]);
      }
    // Redirects of a link that the service remembers are for everybody, also for the one that floods.
    expect((await visit("link-1", "192.0.2.1")).status).toBe(302);
    for (let nth = LINKS; nth < LINKS + 30; nth++) {
      expect((await make(nth, "192.0.2.3")).status).toBe(201);
      expect((await visit(`link-${nth}`, "192.0.2.3")).status).toBe(302);
    }
    expect((await visit("none", "192.0.2.3")).status).toBe(404);
    expect((await visit("link-1+", "192.0.2.3")).status).toBe(200);
  } finally {
    over.abort();
    await flooding;
  }
  const refused = answers.get(429) ?? 0;
  answers.delete(429);
  const answered = [...answers.values()].reduce((sum, count) => sum + count, 0);
  // Five views and five unknown addresses, and what an hour gives back in this time.
  expect(answered).toBeLessThanOrEqual(11);
  expect(refused).toBeGreaterThan(FLOODERS);
});
