import { expect, test } from "bun:test";

import { shareService } from "../support/service.ts";
import { openPage, wordsOf } from "./browser.ts";
import { shareDestination } from "./destination-site.ts";

const LONG = "https://example.com/긴 주소?q=값&r=#자리";

const curt = shareService();
const elsewhere = shareDestination();

test("the bookmark opens the form with the address of the current page", async () => {
  await using page = await openPage(curt.origin);
  const say = wordsOf("en");
  await page.goto("/+links");
  const bookmark = page.getByRole("link", { name: say("home.make") });
  const href = (await bookmark.getAttribute("href")) ?? "";
  expect(href).toStartWith("javascript:");
  // On another site's page, whose address it sends to ours.
  await page.context().route("https://curt.example/**", (route) => route.fulfill({ body: "ours" }));
  const address = `http://127.0.0.1:${elsewhere.port}/여기?a=b&c=d#${encodeURIComponent("&자리=")}`;
  await page.goto(address);
  await page.evaluate(decodeURIComponent(href.slice("javascript:".length)));
  await page.waitForURL("https://curt.example/**");
  const formUrl = new URL(page.url());
  expect([...formUrl.searchParams.keys()]).toEqual(["original_url"]);
  await page.goto(`/${formUrl.search}`);
  const filled = page.getByRole("textbox", { name: say("home.url") });
  expect(await filled.inputValue()).toBe(new URL(address).href);
});

test("the manifest offers Curt as a share target, and a shared page fills the form with its address", async () => {
  await using page = await openPage(curt.origin);
  await page.goto("/");
  const path = (await page.locator("link[rel=manifest]").getAttribute("href")) ?? "";
  const response = await curt.fetch(path);
  expect(response.headers.get("content-type")).toBe("application/manifest+json");
  const manifest = (await response.json()) as any;
  expect(manifest).toMatchObject({
    name: "Curt",
    start_url: "/",
    share_target: { action: "/", method: "GET" },
  });
  for (const { src, type, sizes } of manifest.icons) {
    const icon = await curt.fetch(src);
    expect([icon.status, icon.headers.get("content-type")]).toEqual([200, type]);
    const width = await page.evaluate<number>(
      `new Promise((resolve, reject) => {
          const image = new Image();
          image.onload = () => resolve(image.naturalWidth);
          image.onerror = reject;
          image.src = ${JSON.stringify(src)};
        })`,
    );
    if (sizes !== "any") expect(`${width}x${width}`).toBe(sizes);
    expect(width).toBeGreaterThan(0);
  }
  // Chrome's own check of the manifest.
  const devtools = await page.context().newCDPSession(page);
  const { errors } = await devtools.send("Page.getAppManifest");
  expect(errors).toEqual([]);

  const { url, text, title } = manifest.share_target.params;
  const field = page.getByRole("textbox", { name: wordsOf("en")("home.url") });
  for (const [shared, filled] of [
    [{ [url]: LONG, [title]: "A page" }, LONG],
    [{ [text]: "https://example.com/in-text", [title]: "A page" }, "https://example.com/in-text"],
    [{ [text]: "Look at https://example.com/a?b=c#d 좋아요", [url]: "" }, "https://example.com/a?b=c#d"],
    [{ [text]: "nothing to shorten", [title]: "https://example.com/title" }, ""],
  ] as const) {
    await page.goto(`/?${new URLSearchParams(shared as Record<string, string>).toString()}`);
    expect(await field.inputValue()).toBe(filled);
  }
});
