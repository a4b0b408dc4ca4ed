import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import en from "../../src/language/en.json";
import ko from "../../src/language/ko.json";
import { DAY_MS, HOUR_MS } from "../../src/links/time.ts";
import { ask, type Made, make, OTHER } from "../managed.ts";
import { type Here, type Running, startHere } from "../service.ts";
import { addVisits, WINDOWS_CHROME } from "../visits/visits.ts";

const ADMIN_TOKEN = "operator-token-0123456789";
const HTML = { Accept: "text/html", "User-Agent": WINDOWS_CHROME };

let curt: Here;
beforeAll(async () => {
  curt = await startHere({ ADMIN_TOKEN, EDITS: "on" }, { standsStill: true });
});
afterAll(() => curt[Symbol.asyncDispose]());

async function change(service: Running, { path, key }: Made, body: object): Promise<void> {
  expect((await ask(service, "PATCH", path, { key, body })).status).toBe(200);
}

async function page(service: Running, path: string, language = "en"): Promise<string> {
  const response = await service.fetch(path, { headers: { ...HTML, "Accept-Language": language } });
  return response.text();
}

describe("a link that was changed", () => {
  test("says on its preview that and when, and for 30 days where it led before", async () => {
    const link = await make(curt, { target: "https://www.first.example/x" });
    const unchanged = await page(curt, `/${link.code}+`);
    for (const text of [en["preview.changed"], en["hint.edited"], "led to"])
      expect(unchanged).not.toContain(text);
    curt.advance(2 * DAY_MS);
    await change(curt, link, { target: OTHER });
    const { changed } = (await ask(curt, "GET", link.path)).data;
    const fresh = await page(curt, `/${link.code}+`);
    expect(fresh).toContain(`<dt>${en["preview.changed"]}</dt><dd><time datetime="${changed}"`);
    const warning = `${en["hint.changed.fresh"]} Before that, it led to <bdi dir="ltr">www.first.example</bdi>.`;
    expect(fresh).toContain(`<ul class="warnings"><li>${warning}</li></ul>`);
    expect(fresh).not.toContain("first.example/x");
    expect(await page(curt, `/${link.code}+`, "ko")).toContain(ko["hint.changed.fresh"]);
    // Of several changes within 30 days, the first host counts: most people knew that one.
    curt.advance(HOUR_MS);
    await change(curt, link, { target: "https://third.example/" });
    expect(await page(curt, `/${link.code}+`)).toContain("www.first.example");
    curt.advance(30 * DAY_MS - 1000);
    const known = await page(curt, `/${link.code}+`);
    expect(known).toContain(`<ul class="hints"><li>${en["hint.edited"]} Before that, it led to <bdi`);
    expect(known).toContain("www.first.example");
    curt.advance(1000);
    const later = await page(curt, `/${link.code}+`);
    expect(later).not.toContain("first.example");
    expect(later).toContain(en["preview.changed"]);
    expect(later).not.toContain(en["hint.changed.fresh"]);
  });

  test("tells no former host while it has a password", async () => {
    const link = await make(curt, { target: "https://was-secret.example/" });
    await change(curt, link, { password: "p" });
    await change(curt, link, { target: OTHER });
    const secret = await page(curt, `/${link.code}+`);
    expect(secret).toContain(en["preview.changed"]);
    for (const host of ["was-secret.example", "example.net"]) expect(secret).not.toContain(host);
    // Otherwise, a password for a moment would hide the change.
    await change(curt, link, { password: null });
    expect(await page(curt, `/${link.code}+`)).toContain("was-secret.example");
  });

  test("says so with INTERSTITIAL before it leads on, and where it led before", async () => {
    await using service = await startHere({ INTERSTITIAL: "all" });
    const link = await make(service);
    await change(service, link, { target: OTHER });
    const shown = await page(service, `/${link.code}`);
    for (const text of [en["hint.changed.fresh"], "example.com", "example.net"])
      expect(shown).toContain(text);
  });

  test("is told to the operator with all that its maker said, but its password", async () => {
    const starts = new Date(curt.nowMs() + HOUR_MS).toISOString();
    const link = await make(curt, { starts, max_visits: 7, password: "open sesame" });
    curt.advance(HOUR_MS);
    await change(curt, link, { target: OTHER });
    const { data } = await ask(curt, "GET", `/api/v1/admin/links/${link.code}`, { key: ADMIN_TOKEN });
    expect(data).toMatchObject({
      target: OTHER,
      starts,
      max_visits: 7,
      counted_visits: 0,
      has_password: true,
      ended: null,
      changed: expect.any(String),
      former_host: "example.com",
    });
    expect(JSON.stringify(data)).not.toContain("argon2");
    const signedIn = await curt.fetch("/admin", {
      method: "POST",
      body: new URLSearchParams({ token: ADMIN_TOKEN }),
      headers: { ...HTML, "Sec-Fetch-Site": "same-origin" },
    });
    const Cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
    const shown = await (
      await curt.fetch(`/admin/links/${link.code}`, { headers: { ...HTML, Cookie } })
    ).text();
    for (const text of [
      starts,
      "0 / 7",
      en["admin.password.yes"],
      en["preview.changed"],
      "example.com",
      OTHER,
    ])
      expect(shown).toContain(text);
    expect(shown).not.toContain("argon2");
    await ask(curt, "DELETE", link.path, { key: link.key });
    const ended = await ask(curt, "GET", `/api/v1/admin/links/${link.code}`, { key: ADMIN_TOKEN });
    expect(ended.data).toMatchObject({ state: "ended", ended: "withdrawn" });
  });
});

describe("the statistics of a public service", () => {
  // The visits are in the running hour.
  const startMs = Date.UTC(2026, 10, 21, 16, 5);

  test("tell more with the key: the running hour and exact visitors, but never a person", async () => {
    await using service = await startHere({}, { startMs });
    const { code, path, key } = await make(service);
    await addVisits(
      service,
      code,
      Array.from({ length: 123 }, (_, nth) => ({
        visitor: nth,
        referrer: nth < 4 ? "few.example" : "many.example",
      })),
    );
    const statistics = async (given?: string) =>
      (await ask(service, "GET", `${path}/stats`, { key: given })).data;
    const none = { values: [], other: 0 };
    expect(await statistics()).toMatchObject({ visits: 123, visitors: null, referrers: none });
    const exact = (await statistics(key))["visitors"];
    expect(exact).toBeGreaterThan(110);
    expect(await statistics(key)).toMatchObject({
      visits: 123,
      referrers: { values: [{ value: "many.example", visits: 119 }], other: 4 },
    });
    // Neither is shared with the other, and each is known again by its own tag.
    expect(await statistics()).toMatchObject({ visitors: null, referrers: none });
    const [mine, theirs] = [
      await ask(service, "GET", `${path}/stats`, { key }),
      await ask(service, "GET", `${path}/stats`),
    ];
    expect(mine.headers.get("etag")).not.toBe(theirs.headers.get("etag"));
    expect(mine.headers.get("vary")).toContain("Authorization");
    service.advance(HOUR_MS);
    expect(await statistics()).toMatchObject({ visitors: Math.floor(exact / 10) * 10 });
    expect(await statistics(key)).toMatchObject({ visitors: exact });
  });

  test("tell whoever has the key nothing of fewer than ten visitors or five networks", async () => {
    await using service = await startHere({}, { startMs });
    const few = await make(service);
    await addVisits(
      service,
      few.code,
      Array.from({ length: 9 }, (_, nth) => ({ visitor: nth })),
    );
    const house = await make(service);
    await addVisits(
      service,
      house.code,
      Array.from({ length: 40 }, (_, nth) => ({ visitor: nth * 1000, network: nth % 4, country: "KR" })),
    );
    for (const { path, key } of [few, house]) {
      const { data } = await ask(service, "GET", `${path}/stats`, { key });
      expect(data["visitors"]).toBeNull();
    }
    const { data } = await ask(service, "GET", `${house.path}/stats`, { key: house.key });
    expect(data["countries"]).toEqual({ values: [], other: 40, hidden: 40 });
  });

  test("stay totals only if the operator says so", async () => {
    await using service = await startHere({ STATS_SHOWN: "count" }, { startMs });
    const { code, path, key } = await make(service);
    await addVisits(
      service,
      code,
      Array.from({ length: 40 }, (_, nth) => ({ visitor: nth * 1000 })),
    );
    expect((await ask(service, "GET", `${path}/stats`, { key })).data).toMatchObject({
      visits: 40,
      visitors: null,
      series: [],
    });
  });
});
