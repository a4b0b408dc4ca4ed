import { describe, expect, test } from "bun:test";

import { TERMS } from "../../src/links/terms/terms.ts";
import { DAY_MS, HOUR_MS } from "../../src/links/time.ts";
import en from "../../src/locales/en.json";
import {
  callApi,
  createManagedLink,
  type ManagedLink,
  OTHER,
  TARGET,
  destinationOf,
} from "../support/managed-links.ts";
import { disableLink, shareService, startService } from "../support/service.ts";
import { addVisits } from "../visits/visits.ts";
import { sendForm } from "./markup.ts";

const SECRET = "https://example.com/only-for-those-who-know";

const curt = shareService();

type Fields = Readonly<Record<string, string>>;

/** Sends the form as a browser does. */
async function send(code: string, fields: Fields, headers: Fields = {}, service = curt) {
  const response = await sendForm(service, `/${code}+manage`, fields, headers);
  return { status: response.status, headers: response.headers, body: await response.text() };
}

/** The fields of the form if nothing was typed. */
function untouched({ key }: Pick<ManagedLink, "key">, fields: Fields = {}): Fields {
  return { key, act: "change", target: TARGET, expires_at: "", max_visits: "", password: "", ...fields };
}

describe("the manage page", () => {
  test("asks for the key, and looks the same for an unknown code", async () => {
    const { code } = await createManagedLink(curt);
    const pages = await Promise.all(
      [code, "unknown-code"].map(async (one) => {
        const response = await curt.fetch(`/${one}+manage`);
        return [response.status, (await response.text()).replaceAll(one, "")];
      }),
    );
    expect(pages[0]).toEqual(pages[1]);
    expect(pages[0]?.[0]).toBe(200);
    expect(pages[0]?.[1]).not.toContain(TARGET);
  });

  test("shows all statistics right away, unlike the preview, unless STATS_SHOWN is count", async () => {
    await using open = await startService({ STATS_SHOWN: "safe" });
    const { code, key } = await createManagedLink(open);
    expect((await send(code, { key }, {}, open)).body).not.toContain(en["preview.referrers"]);
    await addVisits(open, code, [{ visitor: 1, referrer: "one.example" }, { visitor: 2 }]);
    const { body } = await send(code, { key }, {}, open);
    expect(body).toContain(`<dt>${en["preview.visitors"]}</dt><dd>2</dd>`);
    expect(body).toContain("one.example\u00a01");
    const preview = await (await open.fetch(`/${code}+`, { headers: { Accept: "text/html" } })).text();
    expect(preview).toContain(en["preview.few"]);
    expect(preview).not.toContain("one.");
    await using totals = await startService({ STATS_SHOWN: "count" });
    const other = await createManagedLink(totals);
    await addVisits(totals, other.code, [{ visitor: 1 }]);
    expect((await send(other.code, { key: other.key }, {}, totals)).body).not.toContain(
      en["preview.visitors"],
    );
  });

  test("shows a title as long as allowed again if another field is refused", async () => {
    const { code, key } = await createManagedLink(curt);
    const title = "x".repeat(TERMS.title.bounds.max);
    const { status, body } = await send(code, untouched({ key }, { title, max_visits: "none" }));
    expect([status, body.includes(`value="${title}"`)]).toEqual([400, true]);
  });

  test("reports a change, and shows the form, even if the queue of views is full", async () => {
    await using busy = await startService({ TRUSTED_PROXIES: "127.0.0.1" });
    const { code, key } = await createManagedLink(busy);
    busy.expectFaults();
    const { promise: isFull, resolve: onRefusal } = Promise.withResolvers<void>();
    const over = new AbortController();
    let nth = 0;
    async function flood() {
      while (!over.signal.aborted) {
        const dark = (++nth).toString(16).padStart(6, "0");
        const headers = { "X-Forwarded-For": `192.0.2.${nth % 250}` };
        const { status } = await busy.fetch(`/${code}.png?size=2048&dark=${dark}`, { headers });
        if (status === 503) onRefusal();
      }
    }
    const floods = Array.from({ length: 90 }, flood);
    await isFull;
    const changed = await send(code, untouched({ key }, { target: OTHER }), {}, busy);
    over.abort();
    await Promise.all(floods);
    expect(changed.status).toBe(200);
    for (const text of [en["link.changed"], OTHER, key]) expect(changed.body).toContain(text);
  });

  test("keeps a start or an end to the millisecond that is sent as the form shows it", async () => {
    const dates = { starts_at: "2098-12-31T23:59:58.765Z", expires_at: "2099-01-01T10:20:30.456Z" };
    const { code, key, path } = await createManagedLink(curt, dates);
    const { status } = await send(code, {
      key,
      act: "change",
      target: TARGET,
      starts_at: "date",
      starts_at_date: "2098-12-31T23:59",
      expires_at: "date",
      expires_at_date: "2099-01-01T10:20",
      max_visits: "3",
    });
    expect(status).toBe(200);
    expect((await callApi(curt, "GET", path, { key })).data).toMatchObject({ ...dates, max_visits: 3 });
  });

  test("keeps an end in the second of two equal hours, where the form's time means the first", async () => {
    const expires_at = "2098-10-26T01:30:00.000Z";
    const { code, key, path } = await createManagedLink(curt, { expires_at });
    const date = { expires_at: "date", expires_at_date: "2098-10-26T02:30", zone: "Europe/Berlin" };
    expect((await send(code, { key, act: "change", target: OTHER, ...date })).status).toBe(200);
    expect((await callApi(curt, "GET", path, { key })).data).toMatchObject({ target: OTHER, expires_at });
  });

  test("shows a date in UTC again if only the browser knows its zone, and says so", async () => {
    const { code, key } = await createManagedLink(curt);
    const date = { expires_at: "date", expires_at_date: "2098-10-26T02:30", zone: "Nowhere/Land" };
    const { status, body } = await send(code, { key, act: "change", ...date });
    expect(status).toBe(400);
    expect(body).toContain(en["home.date.zone"].replaceAll("'", "&#39;"));
    expect(body).toContain('name="zone" value="UTC"');
    expect(body).toContain('value="2098-10-26T02:30"');
  });

  test("opens with the key or the manage address", async () => {
    const { code, key } = await createManagedLink(curt, { target: SECRET, password: "open" });
    for (const right of [key, ` ${key}\n`, `https://curt.example/${code}+#key=${key}`]) {
      const { status, headers, body } = await send(code, { key: right });
      expect([status, headers.get("cache-control")]).toEqual([200, "no-store"]);
      expect(headers.has("set-cookie")).toBe(false);
      expect(body).toContain(SECRET);
    }
    const empty = await send(code, { key: "#key=" });
    expect(empty.status).toBe(400);
    expect(empty.body).not.toContain(SECRET);
    expect(empty.body).toContain('aria-invalid="true"');
  });

  test("changes only the fields that differ from the link", async () => {
    const link = await createManagedLink(curt, { max_visits: 7, password: "old" });
    const { code, path, key } = link;
    const state = async () => (await callApi(curt, "GET", path, { key })).data;
    const before = await state();
    expect((await send(code, untouched(link, { max_visits: "7" }))).status).toBe(200);
    expect(await state()).toEqual(before);

    const { status, body } = await send(
      code,
      untouched(link, { target: ` ${OTHER} `, expires_at: "24h", max_visits: "", password: "" }),
    );
    expect([status, body.includes(OTHER)]).toEqual([200, true]);
    const after = await state();
    expect(after).toMatchObject({ target: OTHER, max_visits: null, has_password: true });
    expect(Date.parse(after["expires_at"]) - curt.nowMs()).toBeWithin(DAY_MS - HOUR_MS, DAY_MS + 1);

    await send(code, untouched(link, { target: OTHER, expires_at: "never", max_visits: "3", remove: "yes" }));
    expect(await state()).toMatchObject({ expires_at: null, max_visits: 3, has_password: false });
    expect(await destinationOf(curt, code)).toBe(OTHER);
  });

  test("an older form undoes no change of another tab, and shows the link as it is now", async () => {
    const { code, path, key } = await createManagedLink(curt);
    const { body } = await send(code, { key });
    const seenIn = (page: string) => /name="seen" value="([\w-]+)"/.exec(page)?.[1] ?? "";
    const older = { key, act: "change", target: TARGET, expires_at: "never", seen: seenIn(body) };
    await callApi(curt, "PATCH", path, { key, body: { target: OTHER, expires_at: "48h" } });
    // A form with mistakes stays an older one.
    const wrong = await send(code, { ...older, max_visits: "many" });
    expect([wrong.status, seenIn(wrong.body)]).toEqual([400, older.seen]);
    const refused = await send(code, { ...older, max_visits: "3" });
    expect([refused.status, refused.body.includes(en["manage.conflict"])]).toEqual([412, true]);
    expect(refused.body).toContain(`value="${OTHER}"`);
    expect(await destinationOf(curt, code)).toBe(OTHER);
    const now = { ...older, target: OTHER, expires_at: "", max_visits: "3", seen: seenIn(refused.body) };
    expect((await send(code, now)).status).toBe(200);
    expect((await callApi(curt, "GET", path, { key })).data).toMatchObject({ target: OTHER, max_visits: 3 });
  });

  test("reports an unknown choice of an expiry beside it", async () => {
    const link = await createManagedLink(curt);
    const { status, body } = await send(link.code, untouched(link, { expires_at: "soon" }));
    expect([status, body.includes('id="expires_at-error"')]).toEqual([400, true]);
  });

  test("withdraws a link only if confirmed, and then has no form", async () => {
    const { code, key } = await createManagedLink(curt);
    const unsure = await send(code, { key, act: "withdraw" });
    expect([unsure.status, unsure.body.includes('id="sure-error"')]).toEqual([400, true]);
    expect(await destinationOf(curt, code)).toBe(TARGET);
    const { status, body } = await send(code, { key, act: "withdraw", sure: "yes" });
    expect([status, body.includes("<form")]).toEqual([200, false]);
    expect(await destinationOf(curt, code)).toBe(410);
    expect((await send(code, { key, act: "withdraw", sure: "yes" })).status).toBe(410);
  });

  test("changes a scheduled link, and only withdraws a disabled one", async () => {
    const later = await createManagedLink(curt, {
      starts_at: new Date(curt.nowMs() + HOUR_MS).toISOString(),
    });
    expect(await send(later.code, untouched(later, { target: OTHER }))).toMatchObject({ status: 200 });
    const disabled = await createManagedLink(curt);
    await disableLink(curt, disabled.code, "spam");
    const { body } = await send(disabled.code, { key: disabled.key });
    expect([body.includes('name="sure"'), body.includes('name="target"')]).toEqual([true, false]);
  });

  test("shows the link and changes nothing if the action is unknown", async () => {
    const { code, key } = await createManagedLink(curt);
    for (const act of ["", "erase", "__proto__", "constructor"]) {
      const { status, body } = await send(code, { key, act });
      expect([status, body.includes(TARGET)]).toEqual([200, true]);
    }
    expect(await destinationOf(curt, code)).toBe(TARGET);
  });

  test("refuses forms of other sites even with the right key", async () => {
    const { code, key } = await createManagedLink(curt);
    const refusal = await send(
      code,
      { key, act: "withdraw", sure: "yes" },
      { "Sec-Fetch-Site": "cross-site" },
    );
    expect([refusal.status, refusal.headers.get("curt-reason")]).toEqual([403, "cross-site"]);
    expect(refusal.body).not.toContain(key);
    expect(await destinationOf(curt, code)).toBe(TARGET);
  });

  test("counts new destinations against LIMIT_CREATE, and wrong keys against LIMIT_UNKNOWN", async () => {
    const limits = { LIMIT_UNKNOWN: "2/1h", LIMIT_CREATE: "2/1h" };
    await using limited = await startService(limits);
    const link = await createManagedLink(limited);
    const targets = [OTHER, `${OTHER}/2`];
    const statuses: number[] = [];
    for (const target of targets)
      statuses.push((await send(link.code, untouched(link, { target }), {}, limited)).status);
    expect(statuses).toEqual([200, 429]);
    for (const expected of [403, 403, 429])
      expect((await send(link.code, { key: "wrong" }, {}, limited)).status).toBe(expected);
  });

  test("logs no key", async () => {
    const link = await createManagedLink(curt);
    await send(link.code, untouched(link, { target: OTHER }));
    await send(link.code, untouched(link, { target: "naver.com" }));
    expect(curt.logged.join("")).not.toContain(link.key);
  });
});

describe("the preview after a create by the form", () => {
  async function createByForm(fields: Fields) {
    const response = await sendForm(curt, "/", fields);
    // People share the address of this response.
    expect(response.headers.get("link")).toBeNull();
    const cookie = response.headers.get("set-cookie") ?? "";
    return { location: response.headers.get("location") ?? "", cookie, pair: cookie.split(";", 1)[0] ?? "" };
  }

  const preview = async (path: string, cookie: string) =>
    (await curt.fetch(path, { headers: { Cookie: cookie } })).text();

  test("shows the manage address for ten minutes, without the key in its address or cookie", async () => {
    const { location, cookie, pair } = await createByForm({ original_url: TARGET });
    const path = location.replace(/#.*/, "");
    const page = await preview(path, pair);
    const [, key = ""] =
      new RegExp(`https://curt.example${path.replace("+", "\\+")}#key=([\\w-]+)`).exec(page) ?? [];
    expect(
      (await callApi(curt, "DELETE", `/api/v1/links${path.slice(0, -1)}`, { key: "wrong" })).status,
    ).toBe(403);
    expect((await send(path.slice(1, -1), { key })).status).toBe(200);
    expect(location + cookie).not.toContain(key);
    expect(cookie).toContain(`Path=${path}; Max-Age=600; Secure; HttpOnly; SameSite=Strict`);
    expect(await preview(path, "")).not.toContain(key);
    curt.advance(10 * 60_000);
    expect(await preview(path, pair)).not.toContain(key);
  });

  test("shows the manage address of no other link", async () => {
    const { pair } = await createByForm({ original_url: TARGET });
    const { code, key } = await createManagedLink(curt);
    for (const one of [pair, "made=1.a", "made=", `made=${curt.nowMs() + 1000}.`])
      expect(await preview(`/${code}+`, one)).not.toContain(key);
  });
});
