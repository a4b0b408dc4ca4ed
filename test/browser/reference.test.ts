import { expect, test } from "bun:test";

import type { Locator } from "playwright-core";

import { shareService } from "../support/service.ts";
import { openPage, readers, stopTime } from "./browser.ts";

const curt = shareService({ POSTURE: "private" });

const WORDS = {
  "en-GB": {
    contents: "Contents",
    shorten: "Shorten a URL",
    open: "Try it out",
    body: "Body (JSON)",
    send: "Send",
  },
  "ko-KR": {
    contents: "목차",
    shorten: "URL 단축하기",
    open: "직접 호출해 보기",
    body: "본문(JSON)",
    send: "보내기",
  },
} as const;

const DEVELOPERS = readers(
  (["en-GB", "ko-KR"] as const).flatMap((locale) => [360, 1280].map((width) => ({ locale, width }))),
);

test.each(DEVELOPERS)(
  "the keyboard alone sends a request, and a sample wraps ($locale, $width px)",
  async ({ locale, width }) => {
    const words = WORDS[locale];
    await using page = await openPage(curt.origin, { locale, viewport: { width, height: 800 } });
    await page.goto("/docs");
    const section = page.getByRole("region", { name: words.shorten, exact: true });
    const contents = page.getByRole("navigation", { name: words.contents });
    if (width === 360) await contents.getByText(words.contents).press("Enter");
    await contents.getByRole("link", { name: words.shorten, exact: true }).press("Enter");
    expect(page.url()).toEndWith("/docs#shorten");
    await section.getByText(words.open).press("Enter");
    const body = section.getByRole("textbox", { name: words.body });
    expect(await body.evaluate(fitOf)).toEqual({ isMonospaced: true, isCut: false });
    // As in a browser without field-sizing.
    await body.evaluate((field: any) => (field.style.fieldSizing = "fixed"));
    expect(await body.evaluate(fitOf)).toEqual({ isMonospaced: true, isCut: false });
    await section.getByRole("button", { name: words.send }).press("Enter");
    const answer = section.getByRole("status", { name: /Response|응답/ });
    await answer.getByText(/^201 Created\nLocation: https:\/\/curt\.example\//).waitFor();
    const created = JSON.parse(/\{[\s\S]+/.exec((await answer.textContent()) ?? "")?.[0] ?? "") as {
      data: { code: string };
    };
    expect((await curt.fetch(`/${created.data.code}`)).status).toBe(302);

    await section.getByText("Python", { exact: true }).press("Enter");
    const widest = await page.evaluate("document.documentElement.scrollWidth");
    expect(Number(widest)).toBeLessThanOrEqual(width);
    const sample = section.getByRole("group", { name: `Python: ${words.shorten}` });
    expect(await sample.evaluate((box) => box.scrollWidth > box.clientWidth)).toBeFalse();
  },
);

/** Runs in the page. */
function fitOf(field: any): object {
  return {
    isMonospaced: field.computedStyleMap().get("font-family").toString().endsWith("monospace"),
    isCut: field.scrollHeight > field.clientHeight || field.scrollWidth > field.clientWidth,
  };
}

test("errors are in the language of the page, not of the browser", async () => {
  const words = WORDS["ko-KR"];
  await using page = await openPage(curt.origin, { locale: "en-GB" });
  await page.goto("/docs?language=ko");
  const section = page.getByRole("region", { name: words.shorten, exact: true });
  await section.getByText(words.open).press("Enter");
  await section.getByRole("textbox", { name: words.body }).fill('{"original_url": ');
  await section.getByRole("button", { name: words.send }).press("Enter");
  const answer = section.getByRole("status", { name: /Response|응답/ });
  await answer.getByText(/^400 Bad Request\n[\s\S]*본문이 올바른 JSON이 아닙니다\./).waitFor();

  // A cancelled request is no problem to the browser; a lost connection would be one.
  await page.route("**/api/**", (route) => route.abort("aborted"));
  await section.getByRole("button", { name: words.send }).press("Enter");
  await answer.getByText("응답을 받지 못했습니다.").waitFor();
});

test("parameters go into the path and the query, and a QR code is shown as an image", async () => {
  await curt.shorten({ original_url: "https://example.com/", custom_code: "#️⃣" });
  await using page = await openPage(curt.origin, { locale: "en-GB" });
  await page.goto("/docs");
  const section = page.getByRole("region", { name: "Get visit statistics" });
  await section.getByText("Try it out").press("Enter");
  await section.getByRole("textbox", { name: "code" }).fill("#️⃣");
  await section.getByRole("textbox", { name: "interval" }).fill("month");
  await section.getByRole("textbox", { name: "tz" }).press("Enter");
  const answer = section.getByRole("status", { name: /Response|응답/ });
  await answer.getByText(/^200 OK\n[\s\S]*"interval": "month",\n\s+"tz": "Asia\/Seoul"/).waitFor();
  for (const kind of ["SVG", "PNG"]) {
    const ofCode = page.getByRole("region", { name: `Get the QR code as ${kind}` });
    await ofCode.getByText("Try it out").press("Enter");
    await ofCode.getByRole("textbox", { name: "code" }).fill("#️⃣");
    await ofCode.getByRole("textbox", { name: "size" }).fill("128");
    await ofCode.getByRole("textbox", { name: "size" }).press("Enter");
    const image = ofCode.getByRole("status", { name: "Response" }).getByRole("img");
    await image.waitFor();
    await image.evaluate((loaded: any) => loaded.decode());
    expect(await image.evaluate((loaded: any) => loaded.naturalWidth)).toBe(128);
  }
});

test("later operations are filled in with the link that was just created and with its key", async () => {
  await using page = await openPage(curt.origin, { locale: "en-GB" });
  await page.goto("/docs");
  const call = async (name: string) => {
    const section = page.getByRole("region", { name, exact: true });
    await section.getByText("Try it out").press("Enter");
    await section.getByRole("button", { name: "Send" }).press("Enter");
    const answer = section.getByRole("status", { name: /Response/ });
    await answer.getByText(/^20[01]/).waitFor();
    return JSON.parse(/\{[\s\S]*/.exec((await answer.textContent()) ?? "")?.[0] ?? "") as { data: object };
  };
  const { data } = await call("Shorten a URL");
  const { original_url: target, code } = data as Record<string, string>;
  expect((await call("Get a link")).data).toMatchObject({ target, code });
  // The key is filled in as well.
  const { data: changed } = await call("Change a link");
  expect(changed).toMatchObject({ target, code, expires_at: expect.any(String), state: "active" });
  expect((await call("Withdraw a link")).data).toMatchObject({ state: "withdrawn" });
});

const DESKS = readers(
  [1280, 1600].flatMap((width) => [true, false].map((javaScriptEnabled) => ({ width, javaScriptEnabled }))),
);

test.each(DESKS)(
  "on a desktop the index stays in sight and samples are beside the text ($width px, scripts: $javaScriptEnabled)",
  async ({ width, javaScriptEnabled }) => {
    await using page = await openPage(curt.origin, {
      javaScriptEnabled,
      viewport: { width, height: 800 },
    });
    await page.goto("/docs#getStatistics");
    const contents = page.getByRole("navigation", { name: "Contents" });
    await contents.getByRole("link", { name: "Quick start" }).waitFor();
    const index = await boxOf(contents);
    expect(index.y).toBeWithin(-1, 100);
    expect(index.height).toBeLessThanOrEqual(800);
    expect(await page.evaluate("document.documentElement.scrollHeight")).toBeLessThanOrEqual(12_000);
    const section = page.getByRole("region", { name: "Get visit statistics" });
    const [title, sample, parameters] = [
      await boxOf(section.getByRole("heading", { level: 3 })),
      await boxOf(section.getByRole("group", { name: "curl: Get visit statistics" })),
      await boxOf(section.getByRole("heading", { name: "Parameters" })),
    ];
    expect(title.x).toBeGreaterThan(index.x + index.width);
    expect(sample.x).toBeGreaterThan(parameters.x + parameters.width);
    expect(sample.y).toBeLessThan(parameters.y + 100);
    expect(sample.x + sample.width).toBeLessThanOrEqual(width);
  },
);

test("on a phone the index is folded and samples fit the width", async () => {
  for (const width of readers([320, 360])) {
    await using page = await openPage(curt.origin, {
      javaScriptEnabled: false,
      viewport: { width, height: 740 },
    });
    await page.goto("/docs");
    const section = page.getByRole("region", { name: "Shorten a URL", exact: true });
    const sample = section.getByRole("group", { name: "curl: Shorten a URL" });
    const link = page.getByRole("navigation", { name: "Contents" }).getByRole("link", { name: "Errors" });
    expect(await link.isVisible()).toBeFalse();
    expect((await boxOf(sample)).x + (await boxOf(sample)).width).toBeLessThanOrEqual(width);
    await page.getByText("Contents", { exact: true }).press("Enter");
    await link.press("Enter");
    await page.waitForURL(/#errors$/);
    const parts = await page.getByRole("region").all();
    expect(await Promise.all(parts.slice(0, 2).map((part) => part.getAttribute("id")))).toEqual([
      "start",
      "calls",
    ]);
  }
});

test("the index marks the section in view", async () => {
  await using page = await openPage(curt.origin, { viewport: { width: 1280, height: 800 } });
  await page.goto("/docs");
  const contents = page.getByRole("navigation", { name: "Contents" });
  for (const name of ["Errors", "Withdraw a link", "Quick start"]) {
    await contents.getByRole("link", { name }).click();
    await contents.locator("[aria-current=true]").and(contents.getByRole("link", { name })).waitFor();
    expect(await contents.locator("[aria-current]").count()).toBe(1);
  }
  // A title links to itself, so that its address can be copied.
  const title = page.getByRole("heading", { name: "Get a link" }).getByRole("link");
  expect(await title.getAttribute("href")).toBe("#getLink");
});

test("the search keeps only the parts with its words, and a link to a hidden part shows all parts", async () => {
  await using page = await openPage(curt.origin, { viewport: { width: 1280, height: 800 } });
  await page.goto("/docs");
  const parts = page.locator("section.part:visible");
  const all = await parts.count();
  await page.getByRole("searchbox", { name: "Search this page" }).fill("idempotency-KEY batch");
  await page
    .getByRole("status")
    .filter({ hasText: `of ${all}` })
    .waitFor();
  const contents = page.getByRole("navigation", { name: "Contents" });
  expect(await contents.getByRole("link", { name: "Get a link" }).isVisible()).toBeFalse();
  expect(await contents.getByText("QR codes").isVisible()).toBeFalse();
  expect(await contents.getByRole("link").count()).toBe(await parts.count());
  await parts.getByRole("heading", { name: "Create many links" }).waitFor();
  await page.evaluate("location.hash = 'getLink'");
  await page.getByRole("heading", { name: "Get a link" }).waitFor();
  expect(await parts.count()).toBe(all);
});

test("every sample has a button that copies it", async () => {
  await using page = await openPage(curt.origin, { permissions: ["clipboard-read", "clipboard-write"] });
  await page.goto("/docs");
  const samples = await page.locator("pre").count();
  expect(samples).toBeGreaterThan(50);
  expect(await page.locator("pre + button[data-copy]:not([hidden])").count()).toBe(samples);
  const start = page.getByRole("region", { name: "Quick start" });
  await stopTime(page);
  const shown = await start.locator("pre").first().textContent();
  expect(shown).toStartWith("curl https://curt.example/api/v1/shorten");
  await start.getByRole("button", { name: "Copy" }).first().press("Enter");
  await start.getByRole("button", { name: "✓ Copied" }).waitFor();
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe(shown);
});

test("a printed reference has the chosen sample of each call in full, and no controls", async () => {
  await using page = await openPage(curt.origin);
  await page.emulateMedia({ media: "print" });
  await page.goto("/docs");
  const samples = await page
    .locator(":not(.tabs) > details pre, .tabs > [open] > pre")
    .evaluateAll((all) => all.map((box) => [box.clientHeight > 0, box.scrollWidth <= box.clientWidth]));
  expect(samples.length).toBeGreaterThan(20);
  expect(samples.flat()).not.toContain(false);
  expect(await page.locator("button:visible, .contents:visible, .try:visible").count()).toBe(0);
});

async function boxOf(element: Locator) {
  const box = await element.boundingBox();
  if (box === null) throw new Error("it is not shown");
  return box;
}

test("without scripts every sample is readable, and no control is shown that needs one", async () => {
  await using page = await openPage(curt.origin, { locale: "en-GB", javaScriptEnabled: false });
  await page.goto("/docs");
  const section = page.getByRole("region", { name: "Shorten a URL", exact: true });
  expect(await section.getByRole("group", { name: "curl: Shorten a URL" }).isVisible()).toBeTrue();
  await section.getByText("Python", { exact: true }).press("Enter");
  expect(await section.getByRole("group", { name: "Python: Shorten a URL" }).isVisible()).toBeTrue();
  expect(await section.getByRole("group", { name: "curl: Shorten a URL" }).isVisible()).toBeFalse();
  expect(await page.getByRole("main").getByRole("button").count()).toBe(0);
  expect(await page.getByText("Try it out").first().isVisible()).toBeFalse();
});
