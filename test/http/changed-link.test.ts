import { describe, expect, test } from "bun:test";

import { DAY_MS, HOUR_MS } from "../../src/links/time.ts";
import en from "../../src/locales/en.json";
import ko from "../../src/locales/ko.json";
import { callApi, type ManagedLink, createManagedLink, OTHER } from "../support/managed-links.ts";
import { type RunningService, shareService, startService } from "../support/service.ts";
import { addVisits, WINDOWS_CHROME } from "../visits/visits.ts";
import { sendForm } from "./markup.ts";

const ADMIN_TOKEN = "operator-token-0123456789";
const HTML = { Accept: "text/html", "User-Agent": WINDOWS_CHROME };

const curt = shareService({ ADMIN_TOKEN, EDITS: "on" }, { standsStill: true });

async function change(service: RunningService, { path, key }: ManagedLink, body: object): Promise<void> {
  expect((await callApi(service, "PATCH", path, { key, body })).status).toBe(200);
}

async function fetchPage(service: RunningService, path: string, language = "en"): Promise<string> {
  const response = await service.fetch(path, { headers: { ...HTML, "Accept-Language": language } });
  return response.text();
}

describe("a link with a changed destination", () => {
  test("shows on its preview when it changed, and its former host for 30 days", async () => {
    const link = await createManagedLink(curt, { target: "https://www.first.example/x" });
    const unchanged = await fetchPage(curt, `/${link.code}+`);
    for (const text of [en["preview.changed"], en["hint.edited"], "led to"])
      expect(unchanged).not.toContain(text);
    curt.advance(2 * DAY_MS);
    await change(curt, link, { target: OTHER });
    const { changed_at } = (await callApi(curt, "GET", link.path)).data;
    const fresh = await fetchPage(curt, `/${link.code}+`);
    expect(fresh).toContain(`<dt>${en["preview.changed"]}</dt><dd><time datetime="${changed_at}"`);
    const warning = `${en["hint.changed.fresh"]} The previous destination was at <bdi dir="ltr">www.first.example</bdi>.`;
    expect(fresh).toContain(
      `<div class="warnings"><p>${en["preview.check"]}</p><ul><li>${warning}</li></ul></div>`,
    );
    expect(fresh).not.toContain("first.example/x");
    expect(await fetchPage(curt, `/${link.code}+`, "ko")).toContain(ko["hint.changed.fresh"]);
    // Of several changes within 30 days, the first host counts: most people knew that one.
    curt.advance(HOUR_MS);
    await change(curt, link, { target: "https://third.example/" });
    expect(await fetchPage(curt, `/${link.code}+`)).toContain("www.first.example");
    curt.advance(30 * DAY_MS - 1000);
    const known = await fetchPage(curt, `/${link.code}+`);
    expect(known).toContain(
      `<ul class="hints"><li>${en["hint.edited"]} The previous destination was at <bdi`,
    );
    expect(known).toContain("www.first.example");
    curt.advance(1000);
    const later = await fetchPage(curt, `/${link.code}+`);
    expect(later).not.toContain("first.example");
    expect(later).toContain(en["preview.changed"]);
    expect(later).not.toContain(en["hint.changed.fresh"]);
  });

  test("hides its former host while it has a password, and only then", async () => {
    const link = await createManagedLink(curt, { target: "https://was-secret.example/" });
    await change(curt, link, { password: "p" });
    await change(curt, link, { target: OTHER });
    const secret = await fetchPage(curt, `/${link.code}+`);
    expect(secret).toContain(en["preview.changed"]);
    for (const host of ["was-secret.example", "example.net"]) expect(secret).not.toContain(host);
    // Otherwise, a password for a moment would hide the change.
    await change(curt, link, { password: null });
    expect(await fetchPage(curt, `/${link.code}+`)).toContain("was-secret.example");
  });

  test("shows the change, its former and its new host on the interstitial", async () => {
    await using service = await startService({ INTERSTITIAL: "all" });
    const link = await createManagedLink(service);
    await change(service, link, { target: OTHER });
    const interstitial = await fetchPage(service, `/${link.code}`);
    for (const text of [en["hint.changed.fresh"], "example.com", "example.net"])
      expect(interstitial).toContain(text);
  });

  test("shows the operator all its terms, its former host and its state, but no password hash", async () => {
    const starts_at = new Date(curt.nowMs() + HOUR_MS).toISOString();
    const link = await createManagedLink(curt, { starts_at, max_visits: 7, password: "open sesame" });
    curt.advance(HOUR_MS);
    await change(curt, link, { target: OTHER });
    const { data } = await callApi(curt, "GET", `/api/v1/admin/links/${link.code}`, { key: ADMIN_TOKEN });
    expect(data).toMatchObject({
      target: OTHER,
      starts_at,
      max_visits: 7,
      visits_used: 0,
      has_password: true,
      ended: null,
      changed_at: expect.any(String),
      former_host: "example.com",
    });
    expect(JSON.stringify(data)).not.toContain("argon2");
    const signedIn = await sendForm(curt, "/admin", { token: ADMIN_TOKEN });
    const Cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
    const page = await (
      await curt.fetch(`/admin/links/${link.code}`, { headers: { ...HTML, Cookie } })
    ).text();
    const texts = [starts_at, "0 / 7", en["admin.password.yes"], en["preview.changed"], "example.com", OTHER];
    for (const text of texts) expect(page).toContain(text);
    expect(page).not.toContain("argon2");
    await callApi(curt, "DELETE", link.path, { key: link.key });
    const lookUp = await callApi(curt, "GET", `/api/v1/admin/links/${link.code}`, { key: ADMIN_TOKEN });
    expect(lookUp.data).toMatchObject({ state: "ended", ended: "withdrawn" });
  });
});

describe("the statistics of a link", () => {
  const startMs = Date.UTC(2026, 10, 21, 16, 5);

  test("show single visits to the manage key and the operator, and only totals to others", async () => {
    await using service = await startService({ ADMIN_TOKEN }, { startMs });
    const { code, path, key } = await createManagedLink(service);
    await addVisits(service, code, [{ visitor: 1, referrer: "one.example" }, { visitor: 2 }]);
    const operators = `/api/v1/admin/links/${code}/stats`;
    const none = { values: [], other: 0 };
    const exact = {
      values: [
        { value: null, visits: 1 },
        { value: "one.example", visits: 1 },
      ],
      other: 0,
    };
    const everyone = await callApi(service, "GET", `${path}/stats`);
    expect(everyone.data).toMatchObject({ visits: 2, visitors: null, referrers: none });
    const maker = await callApi(service, "GET", `${path}/stats`, { key });
    const operator = await callApi(service, "GET", operators, { key: ADMIN_TOKEN });
    for (const { data, headers } of [maker, operator]) {
      expect(data).toMatchObject({ visits: 2, visitors: 2, referrers: exact });
      expect(headers.get("etag")).not.toBe(everyone.headers.get("etag"));
      expect(headers.get("vary")).toContain("Authorization");
    }
    // Their responses aren't shared.
    expect((await callApi(service, "GET", `${path}/stats`)).data).toEqual(everyone.data);
    expect((await callApi(service, "GET", `${path}/stats`, { key: ADMIN_TOKEN })).status).toBe(403);
    for (const wrong of [undefined, key])
      expect((await callApi(service, "GET", operators, { key: wrong })).status).toBe(401);
    expect(
      (await callApi(service, "GET", "/api/v1/admin/links/nobody/stats", { key: ADMIN_TOKEN })).status,
    ).toBe(404);
  });

  test("show only totals with STATS_SHOWN=count, even to the manage key", async () => {
    await using service = await startService({ STATS_SHOWN: "count" }, { startMs });
    const { code, path, key } = await createManagedLink(service);
    await addVisits(service, code, [{ visitor: 1 }]);
    const { data } = await callApi(service, "GET", `${path}/stats`, { key });
    expect(data).toMatchObject({ visits: 1, visitors: null, series: [] });
    // The totals of a range would reveal single days and hours.
    const day = await callApi(service, "GET", `${path}/stats?from=2020-01-01&to=2020-01-01&tz=Asia/Seoul`);
    expect(day.data).toEqual({ ...data, tz: "Asia/Seoul" });
  });
});
