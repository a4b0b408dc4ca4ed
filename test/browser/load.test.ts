import { expect, test } from "bun:test";

import type { Page } from "playwright-core";

import { CURT } from "../../src/pages/assets/branding.ts";
import { shareService } from "../support/service.ts";
import { untilCounted, visit } from "../visits/visits.ts";
import { openPage, LAPTOP, PHONE, readers, wordsOf } from "./browser.ts";
import { createInForm } from "./home-form.ts";

/** All bytes that the home page loads, as sent. */
const MAX_BYTES = 29_000;
/** Bun's fetch would unpack it. */
const AS_SENT = { decompress: false } as RequestInit;
/** Layout shift as in web.dev/cls. Times in the reader's zone are shorter or longer than those in UTC. */
const MAX_SHIFT = 0.02;
/** A script for the page that waits until something is painted. */
const PAINTED =
  "new Promise((resolve) => new PerformanceObserver(() => resolve()).observe({ type: 'paint', buffered: true }))";
const say = wordsOf("en");
const { assets } = CURT;

const curt = shareService();

/** The layout shift since the page started, once the current layout is painted. */
function shiftOf(page: Page): Promise<number> {
  return page.evaluate(`new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(() => {
      let sum = 0;
      const observer = new PerformanceObserver(() => {});
      const add = (entries) => entries.forEach(({ value }) => (sum += value));
      new PerformanceObserver((list) => { add(list.getEntries()); }).observe({ type: "layout-shift", buffered: true });
      // Queued behind the entries so far.
      new PerformanceObserver(() => resolve(sum)).observe({ type: "navigation", buffered: true });
    }));
  })`);
}

test("nothing on the home page moves while it loads, nor while the list of links appears", async () => {
  await using page = await openPage(curt.origin, { viewport: PHONE });
  await page.goto("/");
  expect(await shiftOf(page)).toBe(0);
  for (let nth = 0; nth < 3; nth++)
    await createInForm(page, { url: "https://a-long-host-name.example.com/" });
  await page.goto("/");
  await page
    .getByRole("listitem")
    .filter({ has: page.locator("[data-visits]:not(:empty)") })
    .nth(2)
    .waitFor();
  expect(await shiftOf(page)).toBe(0);
  // A shift would be measured.
  await page.evaluate("document.querySelector('h1').style.marginTop = '300px'");
  expect(await shiftOf(page)).toBeGreaterThan(0);
});

const LOADERS = readers(
  [PHONE, LAPTOP].flatMap((viewport) =>
    [true, false].map((isLate) => ({ viewport, width: viewport.width, isLate })),
  ),
);

test.each(LOADERS)(
  "a preview hardly moves while it loads, $width pixels wide (script late: $isLate)",
  async (reader) => {
    const { viewport, width, isLate } = reader;
    await using page = await openPage(curt.origin, { viewport, timezoneId: "Asia/Seoul" });
    let release = Promise.withResolvers<void>();
    await page.route(`**${assets.script.path}`, async (route) => {
      await release.promise;
      await route.continue();
    });
    async function settle(): Promise<void> {
      if (isLate) await page.evaluate(PAINTED);
      release.resolve();
      await page.locator("#visits[data-local]").waitFor({ state: "attached" });
      await page.waitForLoadState("networkidle");
    }
    release.resolve();
    await page.goto("/");
    await page.getByRole("textbox", { name: say("home.url") }).fill("https://a-long-host-name.example.com/");
    await page.getByRole("textbox", { name: say("home.code") }).fill(`가을-${width}-${isLate}`);
    release = Promise.withResolvers();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\+(?:#made)?$/, { waitUntil: "commit" });
    await settle();
    expect(await shiftOf(page)).toBeLessThanOrEqual(MAX_SHIFT);
    for (let nth = 0; nth < 3; nth++) await visit(curt, `가을-${width}-${isLate}`);
    await untilCounted(curt, `가을-${width}-${isLate}`, 3);
    await page.context().clearCookies();
    release = Promise.withResolvers();
    await page.goto(new URL(page.url()).pathname, { waitUntil: "commit" });
    await settle();
    expect(await shiftOf(page)).toBeLessThanOrEqual(MAX_SHIFT);
  },
);

test("the home page is painted and creates links before its script arrives", async () => {
  await using page = await openPage(curt.origin);
  await page.route(`**${assets.script.path}`, () => {
    // It never comes.
  });
  await page.goto("/", { waitUntil: "commit" });
  await page.evaluate(PAINTED);
  expect(await page.evaluate("document.readyState")).not.toBe("complete");
  await page.getByRole("textbox", { name: say("home.url") }).fill("https://example.com/");
  await page.keyboard.press("Enter");
  await page.waitForURL(/#made$/, { waitUntil: "commit" });
  await page.locator(".address", { hasText: "curt.example/" }).waitFor();
});

test("the home page takes at most 29 kB, and later pages load no asset again", async () => {
  const requests: string[] = [];
  let sent = 0;
  // Between the browser and the service, it sees what goes over the wire.
  using between = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch({ url, method, headers }) {
      const { pathname, search } = new URL(url);
      requests.push(pathname);
      const response = await curt.fetch(pathname + search, { method, headers, ...AS_SENT });
      const body = await response.arrayBuffer();
      sent += body.byteLength;
      return new Response(body, response);
    },
  });
  await using page = await openPage(`http://127.0.0.1:${between.port}`);
  await page.goto("/", { waitUntil: "networkidle" });
  // A browser with a window shows the icon too, and one that installs reads the manifest.
  for (const { path } of [assets.icon, assets.manifest]) {
    if (!requests.includes(path))
      await page.evaluate(`fetch(${JSON.stringify(path)}).then((answer) => answer.text())`);
  }
  expect(new Set(requests)).toEqual(
    new Set(["/", ...[assets.style, assets.script, assets.icon, assets.manifest].map(({ path }) => path)]),
  );
  expect(sent).toBeLessThanOrEqual(MAX_BYTES);
  expect(sent).toBeGreaterThan(1000);
  requests.length = 0;
  await page.goto("/", { waitUntil: "networkidle" });
  await page.goto("/nobody-made-it", { waitUntil: "networkidle" });
  expect(requests).toEqual(["/", "/nobody-made-it"]);
});

test("the style has a prefix for each property that Safari knows only with one", () => {
  for (const property of ["user-select", "text-size-adjust", "box-decoration-break"])
    expect(assets.style.body).toMatch(new RegExp(`-webkit-(${property}:[^;]+;)\\s*\\1`));
});

test("an asset is immutable under the hash of its content, and compressed where that helps", async () => {
  for (const { path, type, encoding } of Object.values(assets)) {
    const plain = await curt.fetch(path, { headers: { "Accept-Encoding": "identity" } });
    const bytes = await plain.bytes();
    const hash = new Bun.CryptoHasher("sha256")
      .update(encoding === "utf8" ? bytes : bytes.toBase64())
      .digest("hex");
    expect(path).toMatch(/^\/\.assets\/[\w-]+-[0-9a-f]{10}\.\w+$/);
    expect(path).toContain(`-${hash.slice(0, 10)}.`);
    expect(Object.fromEntries(plain.headers)).toMatchObject({
      "cache-control": "public, max-age=31536000, immutable",
      "content-type": type,
      "x-content-type-options": "nosniff",
      vary: "Accept-Encoding",
    });
    expect(plain.headers.get("content-encoding")).toBeNull();
    for (const [accepted, isZipped] of [
      ["gzip, deflate, br", true],
      ["br, gzip;q=0.5", true],
      ["gzip;q=0", false],
    ] as const) {
      const answer = await curt.fetch(path, { headers: { "Accept-Encoding": accepted }, ...AS_SENT });
      const sent = new Uint8Array(await answer.arrayBuffer());
      const zipped = isZipped && encoding === "utf8";
      expect([accepted, answer.headers.get("content-encoding")], path).toEqual([
        accepted,
        zipped ? "gzip" : null,
      ]);
      expect(Buffer.from(zipped ? Bun.gunzipSync(sent) : sent).equals(bytes)).toBe(true);
      if (zipped) expect(sent.byteLength).toBeLessThan(bytes.byteLength);
    }
    const head = await curt.fetch(path, { method: "HEAD", headers: { "Accept-Encoding": "identity" } });
    expect([head.status, head.headers.get("content-length")]).toEqual([200, String(bytes.byteLength)]);
  }
  const favicon = await curt.fetch("/favicon.ico");
  expect([favicon.status, favicon.headers.get("content-type")]).toEqual([200, "image/png"]);
});
