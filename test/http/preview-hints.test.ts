import { beforeAll, expect, test } from "bun:test";

import { DAY_MS, HOUR_MS } from "../../src/links/time.ts";
import en from "../../src/locales/en.json";
import { message } from "../../src/locales/messages.ts";
import { callApi, createManagedLink } from "../support/managed-links.ts";
import { disableLink, type LocalService, shareService, startService } from "../support/service.ts";
import { elementsOf, HTML } from "./markup.ts";

const MINUTE_MS = 60_000;
const LONG = "https://example.com/long";

const curt = shareService();
beforeAll(async () => {
  await curt.shorten({ original_url: LONG, custom_code: "taken" });
  await curt.shorten({ original_url: LONG, custom_code: "ended", expire_duration: "24h" });
  curt.advance(DAY_MS);
});

function get(path: string, service = curt): Promise<Response> {
  return service.fetch(path, { headers: HTML });
}

/** Reads a page, with the ETag of an earlier response. */
function readerOf(service: LocalService, path: string) {
  return async (known = "") => {
    const response = await service.fetch(path, { headers: { ...HTML, "If-None-Match": known } });
    return { status: response.status, tag: response.headers.get("etag") ?? "", text: await response.text() };
  };
}

/** The preview of a new link in English and Korean. */
async function textsOf(custom_code: string, original_url: string): Promise<string[]> {
  await curt.shorten({ original_url, custom_code });
  const languages = ["en", "ko"].map(async (language) =>
    (await get(`/${custom_code}+?language=${language}`)).text(),
  );
  return Promise.all(languages);
}

test("a chat card has the host in ASCII as well, and warns of letters that look like others", async () => {
  for (const [code, host, shown] of [
    ["written", "пример.example", "пример.example (xn--e1afmkfd.example)"],
    ["imitated", "аррӏе.example", `xn--80ak6aa92e.example – ${en["preview.mistakable"]}`],
    ["plain", "example.com", "example.com"],
  ] as const) {
    await curt.shorten({ original_url: `https://${host}/`, custom_code: code });
    const elements = await elementsOf(await get(`/${code}+`));
    const described = elements.filter(({ attributes: { name, property } }) =>
      ["description", "og:description"].includes(name ?? property ?? ""),
    );
    expect(described).toHaveLength(2);
    for (const { attributes } of described) expect(attributes["content"]).toBe(`Destination: ${shown}`);
  }
});

test("a preview lists what is unusual about the destination, and emphasizes its registrable domain", async () => {
  const [enPage, koPage] = await textsOf("unusual", "https://www.paypal.com.a.b.c.example.net:8443/");
  const front = { name: "paypal.com", domain: "example.net" };
  for (const [page, language] of [
    [enPage, "en"],
    [koPage, "ko"],
  ] as const) {
    expect(page?.replaceAll("<wbr/>", "")).toContain("www.paypal.com.a.b.c.<strong>example.net</strong>");
    for (const text of [
      message(language, "hint.front", front),
      message(language, "hint.labels", front),
      message(language, "hint.port", { port: "8443" }),
    ])
      expect(page).toContain(`<li>${text}</li>`);
  }
  const address = await textsOf("address", "https://[2606:4700::1111]/");
  expect(address[1]).toContain(message("ko", "hint.address"));
});

test("a chat card lists what is unusual about the destination, but no change of it", async () => {
  const { code, path, key } = await createManagedLink(curt);
  await callApi(curt, "PATCH", path, { key, body: { target: "https://paypal.com.example.net/" } });
  const response = await get(`/${code}+`);
  expect(await response.clone().text()).toContain(en["hint.changed.fresh"]);
  const elements = await elementsOf(response);
  const card = elements.find(({ attributes }) => attributes["property"] === "og:description");
  const hint = message("en", "hint.front", { name: "paypal.com", domain: "example.net" });
  expect(card?.attributes["content"]).toBe(`Destination: paypal.com.example.net – ${hint}`);
});

test("a preview shows for a day how long ago its destination changed, and its ETag changes with that text", async () => {
  // Charts change every quarter of an hour. The link is changed between two, so that only that time changes.
  const startMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS + 7 * MINUTE_MS;
  await using own = await startService({}, { startMs, standsStill: true });
  const { code, path, key } = await createManagedLink(own);
  await callApi(own, "PATCH", path, { key, body: { target: LONG } });
  const read = readerOf(own, `/${code}+`);
  const hint = /<ul><li>(Caution: [^.]*\.)/;
  own.advance(HOUR_MS - MINUTE_MS);
  const fresh = await read();
  expect(hint.exec(fresh.text)?.[1]).toBe(en["hint.changed.fresh"]);
  expect((await read(fresh.tag)).status).toBe(304);
  own.advance(2 * MINUTE_MS);
  const later = await read(fresh.tag);
  expect(hint.exec(later.text)?.[1]).toBe("Caution: the destination of this link was changed 1 hour ago.");
  own.advance(DAY_MS - HOUR_MS - 3 * MINUTE_MS);
  expect(hint.exec((await read()).text)?.[1]).toBe(
    "Caution: the destination of this link was changed 23 hours ago.",
  );
  own.advance(3 * MINUTE_MS);
  expect((await read()).text).not.toMatch(hint);
});

test("a preview shows on the last day of its link when and how soon it ends, and its ETag changes with that text", async () => {
  const startMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS + 7 * MINUTE_MS;
  await using own = await startService({}, { startMs, standsStill: true });
  await own.shorten({ original_url: LONG, custom_code: "ending", expire_duration: "48h" });
  const read = readerOf(own, "/ending+");
  const hint = /This link expires soon: ([^,]*), on <time datetime="([^"]*)">/;
  own.advance(DAY_MS - 2 * MINUTE_MS);
  expect((await read()).text).not.toMatch(hint);
  own.advance(4 * MINUTE_MS);
  const first = await read();
  const [, left, ends = ""] = hint.exec(first.text) ?? [];
  expect([left, Date.parse(ends) - own.nowMs()]).toEqual(["in 24 hours", DAY_MS - 2 * MINUTE_MS]);
  expect((await read(first.tag)).status).toBe(304);
  own.advance(DAY_MS - 2 * HOUR_MS);
  const late = await read(first.tag);
  expect([late.status, hint.exec(late.text)?.[1]]).toEqual([200, "in 118 minutes"]);
  own.advance(MINUTE_MS);
  const later = await read(late.tag);
  expect([later.status, hint.exec(later.text)?.[1]]).toEqual([200, "in 117 minutes"]);
  own.advance(2 * HOUR_MS);
  expect((await read()).text).not.toMatch(hint);
});

test("the preview of a disabled link mentions no change, and offers neither sharing nor continuing", async () => {
  await using own = await startService();
  const { code, path, key } = await createManagedLink(own);
  await callApi(own, "PATCH", path, { key, body: { target: LONG } });
  expect(await (await get(`/${code}+`, own)).text()).toContain(en["hint.changed.fresh"]);
  await disableLink(own, code, "spam");
  // The header has a button.
  const [, page = ""] = (await (await get(`/${code}+`, own)).text()).split("<main");
  expect(page).toContain(en["preview.led"]);
  const absent = [
    en["hint.changed.fresh"],
    en["preview.waiting"],
    en["preview.share"],
    "data-copy",
    'class="button',
  ];
  for (const text of absent) expect(page).not.toContain(text);
});

test("a preview shows the ASCII address only if it differs, and its button sends no referrer", async () => {
  await curt.shorten({ original_url: LONG, custom_code: "한글" });
  expect(await (await get("/taken+")).text()).not.toContain(en["preview.ascii"]);
  const page = await (await get(`/${encodeURIComponent("한글")}+`)).text();
  expect(page).toContain(en["preview.ascii"]);
  expect(page).toMatch(/<a class="button primary" href="\/%ED%95%9C%EA%B8%80\/" rel="nofollow noreferrer">/);
});
