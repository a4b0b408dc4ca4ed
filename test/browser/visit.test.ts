import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";

import type { Browser } from "playwright-core";

import { type Running, startHere } from "../service.ts";
import { openBrowser } from "./browser.ts";

let browser: Browser;
let curt: Running;
let destination: ReturnType<typeof Bun.serve>;

beforeAll(async () => {
  browser = await openBrowser();
  curt = await startHere({ POSTURE: "private" });
  destination = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("arrived") });
});
afterAll(async () => {
  await browser.close();
  await destination.stop(true);
  await curt[Symbol.asyncDispose]();
});

/** A page whose every complaint (console errors, blocked styles) is collected. */
async function visit(path: string, locale: string) {
  const page = await browser.newPage({ locale });
  const complaints: string[] = [];
  page.on("console", (message) => {
    // The console repeats the status of the page itself; anything else is a complaint.
    if (message.type() === "error" && !/the server responded with a status of/.test(message.text()))
      complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  const response = await page.goto(`${curt.origin}${path}`);
  return { page, status: response?.status(), complaints };
}

test("a visitor who clicks a short link is elsewhere at once", async () => {
  const original_url = `http://127.0.0.1:${destination.port}/여기?q=값#자리`;
  expect((await curt.shorten({ original_url, custom_code: "한글🏳️‍🌈" })).status).toBe(201);
  for (const path of ["/한글🏳️‍🌈/", `/${"한글🏳️‍🌈".normalize("NFD")}`]) {
    const { page } = await visit(path, "ko-KR");
    expect(page.url()).toBe(new URL(original_url).href);
    expect(await page.textContent("body")).toBe("arrived");
    await page.close();
  }
});

test("a visitor whose link has ended reads so, in their language, styled, without a complaint of the browser", async () => {
  await curt.shorten({ original_url: "https://example.com/", custom_code: "over", expire_duration: "24h" });
  using database = new Database(curt.file);
  database.run("UPDATE links SET ends_ms = ? WHERE code = 'over'", [Date.UTC(2026, 10, 20, 5)]);
  for (const [locale, title] of [
    ["ko-KR", "만료된 링크입니다"],
    ["en-GB", "This link has expired"],
  ] as const) {
    const { page, status, complaints } = await visit("/over", locale);
    expect(status).toBe(410);
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe(title);
    expect(await page.title()).toBe(title);
    expect(await page.locator("time").getAttribute("datetime")).toBe("2026-11-20T05:00:00.000Z");
    // The style is allowed, and applied.
    expect(await page.evaluate("getComputedStyle(document.querySelector('main')).maxWidth")).toBe("736px");
    expect(complaints).toEqual([]);
    await page.close();
  }
});

test("a page of another origin can shorten, and read what went wrong", async () => {
  const page = await browser.newPage();
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
      [`${curt.origin}/api/v1/shorten`, JSON.stringify(body)] as const,
    );
  const made = await shorten({ original_url: "https://example.com/", custom_code: "elsewhere" });
  expect(made).toMatchObject({ status: 201, location: "https://curt.example/elsewhere/" });
  expect(await shorten({})).toMatchObject({
    status: 400,
    answer: { status: "error", message: "original_url is required." },
  });
  await page.close();
});
