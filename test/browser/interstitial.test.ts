import { expect, test } from "bun:test";

import { createManagedLink } from "../support/managed-links.ts";
import { shareService } from "../support/service.ts";
import { untilCounted, WINDOWS_CHROME } from "../visits/visits.ts";
import { chooseLanguage, openPage, LAPTOP, PHONE, readers, wordsOf } from "./browser.ts";
import { shareDestination } from "./destination-site.ts";

const curt = shareService({ POSTURE: "private", INTERSTITIAL: "all" });
const destination = shareDestination();
const { arrivals } = destination;

const VISITORS = readers([
  { locale: "en-GB", viewport: LAPTOP, javaScriptEnabled: true },
  { locale: "ko-KR", viewport: PHONE, javaScriptEnabled: false },
]);

test.each(VISITORS)(
  "the interstitial shows the destination with its hints, and a visitor who continues counts once ($locale)",
  async (reader) => {
    const say = wordsOf(reader.locale);
    const code = `새-${reader.locale}`;
    arrivals.length = 0;
    await curt.shorten({
      original_url: `http://127.0.0.1:${destination.port}/여기?q="값"&p=1`,
      custom_code: code,
    });
    await using page = await openPage(curt.origin, { ...reader, userAgent: WINDOWS_CHROME });
    expect((await page.goto(`/${encodeURIComponent(code)}`))?.status()).toBe(200);
    await page.getByRole("heading", { level: 1, name: say("interstitial.title") }).waitFor();
    const region = page.getByRole("region", { name: say("preview.leads") });
    expect(await region.getByRole("listitem").allTextContents()).toEqual([
      say("hint.address"),
      say("hint.port", { port: String(destination.port) }),
      say("hint.http"),
    ]);
    await untilCounted(curt, code, 1);
    expect(arrivals).toEqual([]);
    await region.getByRole("link", { name: say("preview.continue", { domain: "127.0.0.1" }) }).click();
    await page.waitForURL(`http://127.0.0.1:${destination.port}/**`);
    expect(arrivals).toEqual([{ method: "GET", path: "/여기", referrer: null }]);
    await untilCounted(curt, code, 1);
  },
);

test("a visitor who changes the language of the interstitial counts once", async () => {
  await curt.shorten({ original_url: "https://example.com/", custom_code: "language" });
  await using page = await openPage(curt.origin, { userAgent: WINDOWS_CHROME });
  await page.goto("/language");
  await chooseLanguage(page, "ko");
  await page.getByRole("heading", { level: 1, name: wordsOf("ko")("interstitial.title") }).waitFor();
  await page.goto("/language+");
  await untilCounted(curt, "language", 1);
});

test.each(VISITORS)(
  "continuing forwards the visitor's query if the link forwards it ($locale)",
  async (reader) => {
    arrivals.length = 0;
    const target = `http://127.0.0.1:${destination.port}/passed?a=1#part`;
    const { code } = await createManagedLink(curt, { target, forward_query: true });
    await using page = await openPage(curt.origin, { ...reader, userAgent: WINDOWS_CHROME });
    await page.goto(`/${code}?utm=1&utm=2&a=2`);
    if (reader.javaScriptEnabled) {
      await chooseLanguage(page, "ja");
      await page.getByRole("heading", { level: 1, name: wordsOf("ja")("interstitial.title") }).waitFor();
    }
    await page.locator("main form button").click();
    await page.waitForURL(`http://127.0.0.1:${destination.port}/passed?a=1&utm=1&utm=2#part`);
    expect(arrivals).toEqual([{ method: "GET", path: "/passed", referrer: null }]);
    await untilCounted(curt, code, 1);
  },
);

test("a visitor who continues from the preview skips the interstitial", async () => {
  arrivals.length = 0;
  await curt.shorten({
    original_url: `http://127.0.0.1:${destination.port}/looked`,
    custom_code: "looked",
  });
  await using page = await openPage(curt.origin, { userAgent: WINDOWS_CHROME });
  await page.goto("/looked+");
  const say = wordsOf("en");
  await page.getByRole("link", { name: say("preview.continue", { domain: "127.0.0.1" }) }).click();
  await page.waitForURL(`http://127.0.0.1:${destination.port}/looked`);
  expect(arrivals).toEqual([{ method: "GET", path: "/looked", referrer: null }]);
  await untilCounted(curt, "looked", 1);
});
