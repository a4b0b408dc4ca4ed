import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import en from "../../src/language/en.json";
import { type Running, startHere } from "../service.ts";
import { elementsOf, HTML } from "./markup.ts";

const LONG = "https://example.com/long";

let curt: Running;
beforeAll(async () => {
  curt = await startHere();
});
afterAll(async () => curt[Symbol.asyncDispose]());

function post(fields: Record<string, string>): Promise<Response> {
  return curt.fetch("/", { method: "POST", body: new URLSearchParams(fields), headers: HTML });
}

test('the form does not offer "never" if the operator\'s default is an expiry', async () => {
  await using short = await startHere({ DEFAULT_EXPIRY: "48h" });
  const elements = await elementsOf(await short.fetch("/", { headers: HTML }));
  const ends = elements.filter(({ attributes }) => attributes["name"] === "expire_duration");
  expect(ends.map(({ attributes: { value, checked } }) => [value, checked])).toEqual([
    ["24h", undefined],
    ["48h", ""],
    ["1week", undefined],
    ["1month", undefined],
  ]);
});

test("a shared address in capitals fills the form, one that is not UTF-8 does not", async () => {
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

test("no more than a hundred fields are read", async () => {
  const filled = async (before: number) => {
    const query = `/?${"a=b&".repeat(before)}custom_code=last`;
    const elements = await elementsOf(await curt.fetch(query, { headers: HTML }));
    return elements.find(({ attributes }) => attributes["id"] === "custom_code")?.attributes["value"];
  };
  expect([await filled(99), await filled(100)]).toEqual(["last", ""]);
});

test("an address that would be refused again is not offered", async () => {
  for (const [written, offer] of [
    ["naver.com", "https://naver.com"],
    ["누리집.한국/길?q=1", "https://누리집.한국/길?q=1"],
    ["naver.com:8080", "https://naver.com:8080"],
    ["naver.com:99999", undefined],
    ["10.0.0.255", undefined],
    ["3.14", undefined],
    ["1.25%", undefined],
    [`naver.com/${'"'.repeat(8192)}`, undefined],
  ] as const) {
    const elements = await elementsOf(await post({ original_url: written }));
    const offered = elements.filter(({ attributes }) => attributes["name"] === "meant");
    expect([written, ...offered.map(({ attributes }) => attributes["value"])]).toEqual(
      offer === undefined ? [written] : [written, offer],
    );
  }
});

test("an unknown expiry is reported next to the expiries", async () => {
  const page = await (await post({ original_url: LONG, expire_duration: "2h" })).text();
  expect(page).toMatch(/<p class="error" id="expire_duration-error">[^<]+<\/p><\/div><\/fieldset>/);
  expect(page).not.toContain('role="alert"');
});

test("all mistakes are reported at once, next to their fields, and other problems above the form", async () => {
  await curt.shorten({ original_url: LONG, custom_code: "taken" });
  const told = async (fields: Record<string, string>) => {
    const page = await (await post(fields)).text();
    const besideFields = [...page.matchAll(/<p class="error" id="(\w+)-error">([^<]*)</g)];
    const [, above] = /<p class="error" role="alert">([^<]*)</.exec(page) ?? [];
    return { ...Object.fromEntries(besideFields.map(([, field, text]) => [field, text])), above };
  };
  expect(await told({ original_url: "ftp://x", custom_code: "a b" })).toEqual({
    original_url: en["target.scheme"],
    custom_code: en["code.space"],
    above: undefined,
  });
  expect(await told({ original_url: LONG, custom_code: "taken" })).toEqual({
    custom_code: en.taken,
    above: undefined,
  });
  expect(await told({ original_url: "x".repeat(70_000) })).toEqual({
    above: en["body.too-large"].replace("{max}", "65536"),
  });
});

describe("a form that another site sends with a visitor's browser", () => {
  const send = (code: string, headers: Record<string, string>) =>
    curt.fetch("/", {
      method: "POST",
      headers: { ...HTML, "Content-Type": "application/x-www-form-urlencoded", ...headers },
      body: new URLSearchParams({ original_url: LONG, custom_code: code }),
    });
  const isThere = async (code: string) => (await curt.fetch(`/${code}`)).status === 302;

  test.each([
    ["cross1", { "Sec-Fetch-Site": "cross-site" }],
    ["cross2", { Origin: "https://evil.example" }],
    ["cross3", { "Sec-Fetch-Site": "same-site", Origin: "https://other.curt.example" }],
    ["cross4", { Origin: "http://curt.example:8080" }],
  ])("makes no link, and shows the visitor what was sent: %s", async (code, headers) => {
    const response = await send(code, headers);
    expect(response.status).toBe(403);
    const page = await response.text();
    expect(page).toContain(en["cross-site"]);
    expect(page).toContain(`value="${code}"`);
    expect(await isThere(code)).toBe(false);
  });

  test.each([
    ["own1", { "Sec-Fetch-Site": "same-origin", Origin: "null" }],
    ["own2", { Origin: "https://curt.example" }],
    ["own3", { "Sec-Fetch-Site": "none" }],
    ["own4", {}],
  ])("is not what our own page sends: %s", async (code, headers) => {
    expect((await send(code, headers)).status).toBe(303);
    expect(await isThere(code)).toBe(true);
  });

  test("does not include forms on a page that was opened under another name of the machine", async () => {
    expect((await send("own5", { Origin: curt.origin })).status).toBe(303);
  });
});
