import { expect, test } from "bun:test";

import { DAY_MS } from "../../src/links/time.ts";
import { startService, shareService } from "../support/service.ts";
import { linkOf } from "../visits/visits.ts";
import { openPage, openBrowser } from "./browser.ts";
import { shareDestination } from "./destination-site.ts";

const curt = shareService({ POSTURE: "private" });
const destination = shareDestination();

test("a short link redirects with a trailing slash and in another Unicode normalization", async () => {
  const original_url = `http://127.0.0.1:${destination.port}/여기?q=값#자리`;
  expect((await curt.shorten({ original_url, custom_code: "한글🏳️‍🌈" })).status).toBe(201);
  for (const path of ["/한글🏳️‍🌈/", `/${"한글🏳️‍🌈".normalize("NFD")}`]) {
    await using page = await openPage(curt.origin, { locale: "ko-KR" });
    await page.goto(path);
    expect(page.url()).toBe(new URL(original_url).href);
    expect(await page.textContent("body")).toBe("arrived");
  }
});

test("the page of an expired link shows the end in the visitor's language, styled and without browser errors", async () => {
  await using past = await startService({}, { startMs: Date.now() - 2 * DAY_MS });
  await past.shorten({ original_url: "https://example.com/", custom_code: "over", expire_duration: "24h" });
  const { expires_at: ends } = await linkOf(past, "over");
  past.advance(2 * DAY_MS);
  for (const [locale, title] of [
    ["ko-KR", "만료된 링크입니다"],
    ["en-GB", "This link has expired"],
  ] as const) {
    await using page = await openPage(past.origin, { locale });
    expect((await page.goto("/over"))?.status()).toBe(410);
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe(title);
    expect(await page.title()).toBe(`${title} – Curt`);
    expect(await page.locator("time").getAttribute("datetime")).toBe(String(ends));
    // The style is allowed, and applied.
    expect(await page.evaluate("getComputedStyle(document.querySelector('.brand')).display")).toBe("flex");
  }
});

test("a page of another origin can create a link and read why another was refused, if ORIGINS names it", async () => {
  await using open = await startService({
    POSTURE: "private",
    ORIGINS: `http://127.0.0.1:${destination.port}`,
  });
  const page = await (await openBrowser()).newPage();
  await page.goto(`http://127.0.0.1:${destination.port}/`);
  const shorten = (body: object) =>
    page.evaluate(
      async ([endpoint, sent]) => {
        const headers = { "Content-Type": "application/json" };
        const response = await fetch(endpoint, { method: "POST", headers, body: sent });
        return {
          status: response.status,
          location: response.headers.get("location"),
          answer: await response.json(),
        };
      },
      [`${open.origin}/api/v1/shorten`, JSON.stringify(body)] as const,
    );
  const created = await shorten({ original_url: "https://example.com/", custom_code: "elsewhere" });
  expect(created).toMatchObject({ status: 201, location: "https://curt.example/elsewhere/" });
  expect(await shorten({})).toMatchObject({
    status: 400,
    answer: { status: "error", message: "original_url: It is required." },
  });
  await page.close();
});
