import { afterAll, beforeAll, expect, test } from "bun:test";

import { type Running, startHere } from "../service.ts";
import { arrive } from "./browser.ts";

let curt: Running;

beforeAll(async () => {
  curt = await startHere({ POSTURE: "private" });
});
afterAll(async () => {
  await curt[Symbol.asyncDispose]();
});

test("a sample is copied as it is shown", async () => {
  await using reader = await arrive(curt.origin, {
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const { page } = reader;
  await page.goto("/docs");
  const section = page.getByRole("region", { name: "Shorten a URL", exact: true });
  const shown = await section.getByRole("group", { name: "curl: Shorten a URL" }).textContent();
  await section.getByRole("button", { name: "Copy" }).first().press("Enter");
  await section.getByRole("button", { name: "✓ Copied" }).waitFor();
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe(shown);
});

const WORDS = {
  "en-GB": { shorten: "Shorten a URL", open: "Try it out", body: "Body (JSON)", send: "Send" },
  "ko-KR": { shorten: "URL 단축하기", open: "직접 호출해 보기", body: "본문(JSON)", send: "보내기" },
} as const;

for (const locale of ["en-GB", "ko-KR"] as const) {
  for (const width of [360, 1280]) {
    test(`a developer (${locale}, ${width} px) tries the API by keyboard`, async () => {
      const words = WORDS[locale];
      await using reader = await arrive(curt.origin, { locale, viewport: { width, height: 800 } });
      const { page } = reader;
      await page.goto("/docs");
      const section = page.getByRole("region", { name: words.shorten, exact: true });
      await page.getByRole("link", { name: words.shorten, exact: true }).press("Enter");
      expect(page.url()).toEndWith("/docs#createLink");
      await section.getByText(words.open).press("Enter");
      const body = section.getByRole("textbox", { name: words.body });
      expect(await body.evaluate(fitOf)).toEqual({ isMonospaced: true, isCut: false });
      // As in a browser that does not know it.
      await body.evaluate((field: any) => (field.style.fieldSizing = "fixed"));
      expect(await body.evaluate(fitOf)).toEqual({ isMonospaced: true, isCut: false });
      await section.getByRole("button", { name: words.send }).press("Enter");
      const answer = section.getByRole("status", { name: /Response|응답/ });
      await answer.getByText(/^201 Created\nLocation: https:\/\/curt\.example\//).waitFor();
      const made = JSON.parse(/\{[\s\S]+/.exec((await answer.textContent()) ?? "")?.[0] ?? "") as {
        data: { code: string };
      };
      expect((await curt.fetch(`/${made.data.code}`)).status).toBe(302);

      await page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })");
      const widest = await page.evaluate("document.documentElement.scrollWidth");
      expect(Number(widest)).toBeLessThanOrEqual(width);
      // What is wider than the page scrolls within its own box, by keyboard too.
      const sample = section.getByRole("group", { name: `Python: ${words.shorten}` });
      await sample.press("ArrowRight");
      const isWide = await sample.evaluate((box) => box.scrollWidth > box.clientWidth);
      expect(isWide).toBe(width === 360);
      if (isWide) await expectScrolled(() => sample.evaluate((box) => box.scrollLeft));
    });
  }
}

/** Runs in the page. */
function fitOf(field: any): object {
  return {
    isMonospaced: field.computedStyleMap().get("font-family").toString().endsWith("monospace"),
    isCut: field.scrollHeight > field.clientHeight || field.scrollWidth > field.clientWidth,
  };
}

/** Scrolling is smooth, so it takes a moment. */
async function expectScrolled(position: () => Promise<number>): Promise<void> {
  while ((await position()) === 0) await Bun.sleep(10);
}

test("what is wrong is said in the language of the page, not of the browser", async () => {
  const words = WORDS["ko-KR"];
  await using reader = await arrive(curt.origin, { locale: "en-GB" });
  const { page } = reader;
  await page.goto("/docs?language=ko");
  const section = page.getByRole("region", { name: words.shorten, exact: true });
  await section.getByText(words.open).press("Enter");
  await section.getByRole("textbox", { name: words.body }).fill('{"original_url": ');
  await section.getByRole("button", { name: words.send }).press("Enter");
  const answer = section.getByRole("status", { name: /Response|응답/ });
  await answer.getByText(/^400 Bad Request\n[\s\S]*본문이 올바른 JSON이 아닙니다\./).waitFor();

  // A withdrawn question is no complaint; a lost connection would be one.
  await page.route("**/api/**", (route) => route.abort("aborted"));
  await section.getByRole("button", { name: words.send }).press("Enter");
  await answer.getByText("응답을 받지 못했습니다.").waitFor();
});

test("parameters go into the path and the query", async () => {
  await curt.shorten({ original_url: "https://example.com/", custom_code: "#️⃣" });
  await using reader = await arrive(curt.origin, { locale: "en-GB" });
  const { page } = reader;
  await page.goto("/docs");
  const section = page.getByRole("region", { name: "Get visit statistics" });
  await section.getByText("Try it out").press("Enter");
  await section.getByRole("textbox", { name: "code" }).fill("#️⃣");
  await section.getByRole("textbox", { name: "interval" }).fill("month");
  await section.getByRole("textbox", { name: "tz" }).press("Enter");
  const answer = section.getByRole("status", { name: /Response|응답/ });
  await answer.getByText(/^200 OK\n[\s\S]*"interval": "month",\n\s+"tz": "Asia\/Seoul"/).waitFor();
});

test("the link that was just made is the one that is asked about, changed and ended next", async () => {
  await using reader = await arrive(curt.origin, { locale: "en-GB" });
  const { page } = reader;
  await page.goto("/docs");
  const tried = async (name: string) => {
    const section = page.getByRole("region", { name, exact: true });
    await section.getByText("Try it out").press("Enter");
    await section.getByRole("button", { name: "Send" }).press("Enter");
    const answer = section.getByRole("status", { name: /Response/ });
    await answer.getByText(/^20[01]/).waitFor();
    return JSON.parse(/\{[\s\S]*/.exec((await answer.textContent()) ?? "")?.[0] ?? "") as { data: object };
  };
  const { data } = await tried("Shorten a URL");
  expect((await tried("Get a link")).data).toMatchObject(data);
  // Its key is filled in, too.
  const { data: changed } = await tried("Change a link");
  expect(changed).toMatchObject({ ...data, expiration_date: expect.any(String), state: "active" });
  expect((await tried("End a link")).data).toMatchObject({ state: "withdrawn" });
});

test("a QR code is shown as it is", async () => {
  await curt.shorten({ original_url: "https://example.com/", custom_code: "한글" });
  await using reader = await arrive(curt.origin, { locale: "en-GB" });
  const { page } = reader;
  await page.goto("/docs");
  for (const kind of ["SVG", "PNG"]) {
    const section = page.getByRole("region", { name: `Get the QR code as ${kind}` });
    await section.getByText("Try it out").press("Enter");
    await section.getByRole("textbox", { name: "size" }).fill("128");
    await section.getByRole("textbox", { name: "size" }).press("Enter");
    const image = section.getByRole("status", { name: /Response|응답/ }).getByRole("img");
    await image.waitFor();
    await image.evaluate((shown: any) => shown.decode());
    expect(await image.evaluate((shown: any) => shown.naturalWidth)).toBe(128);
  }
});

test("without scripts everything can be read, and nothing is there that would not work", async () => {
  await using reader = await arrive(curt.origin, { locale: "en-GB", javaScriptEnabled: false });
  const { page } = reader;
  await page.goto("/docs");
  const section = page.getByRole("region", { name: "Shorten a URL", exact: true });
  expect(await section.getByRole("group", { name: "curl: Shorten a URL" }).isVisible()).toBeTrue();
  await section.getByText("Python", { exact: true }).press("Enter");
  expect(await section.getByRole("group", { name: "Python: Shorten a URL" }).isVisible()).toBeTrue();
  expect(await page.getByRole("button").count()).toBe(0);
  expect(await page.getByText("Try it out").first().isVisible()).toBeFalse();
});
