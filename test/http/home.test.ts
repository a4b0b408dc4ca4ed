import { describe, expect, test } from "bun:test";

import en from "../../src/locales/en.json";
import { shareService, startService } from "../support/service.ts";
import { linkOf } from "../visits/visits.ts";
import { elementsOf, HTML, sendForm } from "./markup.ts";
import { PROXY } from "./people.ts";

const LONG = "https://example.com/long";

const curt = shareService();

const post = (fields: Record<string, string>) => sendForm(curt, "/", fields);

test("the form doesn't offer \"never\" if the operator's default is an expiry", async () => {
  await using short = await startService({ DEFAULT_EXPIRY: "48h" });
  const elements = await elementsOf(await short.fetch("/", { headers: HTML }));
  const ends = elements.filter(({ attributes }) => attributes["name"] === "expire_duration");
  expect(ends.map(({ attributes: { value, checked } }) => [value, checked])).toEqual([
    ["24h", undefined],
    ["48h", ""],
    ["1week", undefined],
    ["1month", undefined],
    ["date", undefined],
  ]);
});

test("the form says that nobody needs an account only where people don't sign in", async () => {
  await using office = await startService(PROXY);
  const says = async (of: typeof curt) =>
    (await (await of.fetch("/", { headers: HTML })).text()).includes(en["home.fact.account"]);
  expect([await says(curt), await says(office)]).toEqual([true, false]);
});

test("an address in the query fills the form, unless the query isn't UTF-8", async () => {
  const filled = async (query: string) => {
    const elements = await elementsOf(await curt.fetch(`/?${query}`, { headers: HTML }));
    return elements.find(({ attributes }) => attributes["id"] === "original_url")?.attributes["value"];
  };
  expect(await filled("text=HTTPS://EXAMPLE.COM/A")).toBe("HTTPS://EXAMPLE.COM/A");
  expect(await filled("original_url=https://ko.example/%EA%B0%80")).toBe("https://ko.example/가");
  expect(await filled("original_url=https://ko.example/%B0%A1")).toBe("");
  expect(await filled("original_url=https://ko.example/%EF%BF%BD")).toBe("https://ko.example/\uFFFD");
  expect(await filled("original_url=https://ko.example/%EF%BF%BD&custom_code=%B0%A1")).toBe("");
  expect(await filled("original_url=https://ko.example/100%")).toBe("https://ko.example/100%");
});

test("a field of the query fills the form after 99 unknown ones, and not after more", async () => {
  const filled = async (before: number) => {
    const query = `/?${"a=b&".repeat(before)}custom_code=last`;
    const elements = await elementsOf(await curt.fetch(query, { headers: HTML }));
    return elements.find(({ attributes }) => attributes["id"] === "custom_code")?.attributes["value"];
  };
  expect([await filled(99), await filled(100)]).toEqual(["last", ""]);
});

test("the form completes an address or takes it out of a text, shows how, and refuses one that can't be completed", async () => {
  for (const [written, meant] of [
    ["naver.com", "https://naver.com"],
    ["http//naver.com/a", "http://naver.com/a"],
    ["보세요 https://naver.com/길 좋아요", "https://naver.com/길"],
  ] as const) {
    const response = await post({ original_url: written });
    const code = decodeURIComponent(
      /^\/(.+)\+#made$/.exec(response.headers.get("location") ?? "")?.[1] ?? "",
    );
    expect((await linkOf(curt, code))["target"], written).toEqual(meant);
  }
  for (const written of ["naver.com:99999", "10.0.0.255", "3.14", `naver.com/${'"'.repeat(8192)}`])
    expect((await post({ original_url: written })).status, written).toEqual(400);
  const refusal = await (await post({ original_url: "naver.com", custom_code: "a b" })).text();
  expect(refusal).toContain('value="https://naver.com"');
  expect(refusal).toMatch(/<p class="hint" id="understood" data-understood="[^"]*">/);
});

test("the form sets an expiry in the chosen zone, a limit of visits and a password, and reports mistakes at their field", async () => {
  const chosen = {
    expire_duration: "date",
    expires_at: "2099-03-01T09:30",
    max_visits: "5",
    password: "열려라",
  };
  for (const [zone, ends] of [
    ["Asia/Seoul", "2099-03-01T00:30:00.000Z"],
    ["", "2099-03-01T09:30:00.000Z"],
    ["America/New_York", "2099-03-01T14:30:00.000Z"],
  ] as const) {
    const code = `exact${ends.slice(11, 13)}`;
    expect((await post({ original_url: LONG, custom_code: code, zone, ...chosen })).status).toBe(303);
    const link = await linkOf(curt, code);
    expect([link["expires_at"], link["max_visits"], link["has_password"]]).toEqual([ends, 5, true]);
  }
  for (const wrong of [{ expires_at: "" }, { expires_at: "2099-02-30T00:00" }, { zone: "Nowhere/Land" }]) {
    const response = await post({ original_url: LONG, ...chosen, ...wrong });
    expect([wrong, response.status]).toEqual([wrong, 400]);
    const [field = ""] = Object.keys(wrong);
    expect(await response.text()).toContain(`id="${field === "zone" ? "expires_at" : field}-error"`);
  }
});

test("one form with the same entries creates one link, and comes back with its name if it is refused", async () => {
  const form = "a-name-of-a-form";
  const placeOf = async (fields: Record<string, string>) =>
    (await post({ original_url: LONG, ...fields })).headers.get("location");
  const first = await placeOf({ form });
  const again = await Promise.all([placeOf({ form }), placeOf({ form })]);
  expect(again).toEqual([first, first]);
  const others = [await placeOf({ form, max_visits: "5" }), await placeOf({ form: `${form}2` })];
  // Somebody else could have the same short name.
  others.push(await placeOf({ form: "short" }), await placeOf({ form: "short" }));
  expect(new Set([first, ...others]).size).toBe(5);
  const nameOf = async (response: Response) =>
    (await elementsOf(response)).find(({ attributes }) => attributes["name"] === "form")?.attributes["value"];
  expect(await nameOf(await post({ original_url: "", form }))).toBe(form);
  // A website could choose it for its visitors.
  expect(await nameOf(await curt.fetch(`/?form=${form}`, { headers: HTML }))).toBe("");
});

test("dates in a zone that only the browser knows come back as dates in UTC, with the reason", async () => {
  const dates = { expire_duration: "date", expires_at: "2099-03-01T09:30" };
  const refused = await post({ original_url: LONG, ...dates, zone: "Nowhere/Land" });
  expect(refused.status).toBe(400);
  const page = await refused.text();
  expect(page).toContain(en["home.date.zone"].replaceAll("'", "&#39;"));
  expect(page).toContain('<span data-zone="true">UTC</span>');
  const elements = await elementsOf(new Response(page));
  // The script fills in only an empty zone.
  const zone = elements.find(({ attributes }) => attributes["name"] === "zone")?.attributes["value"] ?? "";
  expect(zone).toBe("UTC");
  expect((await post({ original_url: LONG, custom_code: "utc", ...dates, zone })).status).toBe(303);
  expect((await linkOf(curt, "utc"))["expires_at"]).toBe("2099-03-01T09:30:00.000Z");
});

test("an expiry that isn't offered is reported below the choices", async () => {
  const page = await (await post({ original_url: LONG, expire_duration: "2h" })).text();
  expect(page).toMatch(/<p class="error" id="expire_duration-error">[^<]+<\/p><\/div><\/fieldset>/);
  expect(page).not.toContain('role="alert"');
});

describe("the form", () => {
  const send = (code: string, headers: Record<string, string>) =>
    sendForm(curt, "/", { original_url: LONG, custom_code: code }, headers);
  const exists = async (code: string) => (await curt.fetch(`/${code}`)).status === 302;

  test("creates no link for another site, and shows the visitor what was sent", async () => {
    const page = await (await send("cross-site", { "Sec-Fetch-Site": "cross-site" })).text();
    expect(page).toContain(en["cross-site"]);
    expect(page).toContain('value="cross-site"');
    expect(await exists("cross-site")).toBe(false);
  });

  test.each([
    ["same-origin", { "Sec-Fetch-Site": "same-origin", Origin: "null" }],
    ["own-origin", { Origin: "https://curt.example" }],
    ["typed-address", { "Sec-Fetch-Site": "none" }],
    ["no-headers", {}],
  ])("creates a link unless the browser names another site: %s", async (code, headers) => {
    expect((await send(code, headers)).status).toBe(303);
    expect(await exists(code)).toBe(true);
  });

  test("creates a link if Origin is the request's own Host, although BASE_URL differs", async () => {
    expect((await send("machine-name", { Origin: curt.origin })).status).toBe(303);
  });
});
