// Looks at every page in several windows. To get to all pages takes as long as to look at them, so a window is for several looks.
import { afterAll, beforeAll, expect, test } from "bun:test";

import type { Page } from "playwright-core";

import { loadAxe, violationsOf } from "./axe.ts";
import { arrive, LAPTOP, PHONE } from "./browser.ts";
import { faultsOf, mirrorFaultsOf } from "./layout.ts";
import { prepareTour, type Tour } from "./tour.ts";

let tour: Tour;
beforeAll(async () => {
  tour = await prepareTour();
});
afterAll(async () => {
  await tour[Symbol.asyncDispose]();
});

/** What moves on the page. */
function movingOf(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll("*")].flatMap((element) =>
      [undefined, "::before", "::after"].map((part) => getComputedStyle(element, part)).filter(
        (style) => style.animationName !== "none" || /[1-9]/.test(style.transitionDuration)
          || style.scrollBehavior === "smooth",
      ).map(() => element.outerHTML.slice(0, 120)),
    )`);
}

/** What must be so, and what on a page is not. */
type Look = readonly [what: string, faultsOf: (page: Page) => Promise<string[]>];
/** Nothing scrolls sideways, is cut, or lies over something else. */
const FITS: Look = ["fits", faultsOf];
/** The same, and start and end change sides, where a language is written from right to left. */
const MIRRORS: Look = ["fits from right to left", mirrorFaultsOf];
/** Axe finds nothing, light or dark. */
const AXE: Look = ["is accessible", violationsOf];
/** Who asks for less motion sees none. */
const STILL: Look = ["is still", movingOf];
/** Asks for less motion, because a colour on its way from light to dark is neither. */
const STILL_PHONE = { viewport: PHONE, reducedMotion: "reduce" } as const;

test.each([
  {
    what: "is accessible and still",
    looks: [AXE, STILL],
    locale: "en-GB",
    where: "on a phone",
    window: STILL_PHONE,
  },
  {
    what: "is accessible and fits",
    looks: [AXE, FITS],
    locale: "ko-KR",
    where: "on a phone",
    window: { ...STILL_PHONE, hasTouch: true, isMobile: true },
  },
  {
    what: "fits",
    looks: [FITS],
    locale: "en-GB",
    where: "twice as large on a laptop",
    window: { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 },
  },
  {
    what: "fits, in both directions",
    looks: [FITS, MIRRORS],
    locale: "ja-JP",
    where: "four times as large on a laptop",
    window: { viewport: { width: 320, height: 256 }, deviceScaleFactor: 4 },
  },
  { what: "fits", looks: [FITS], locale: "ko-KR", where: "on a laptop", window: { viewport: LAPTOP } },
])("every page $what ($locale, $where)", async ({ looks, locale, window }) => {
  await using reader = await arrive(tour.curt.origin, { locale, ...window });
  const { page } = reader;
  if (looks.includes(AXE)) await loadAxe(page);
  const found: Record<string, string[]> = {};
  let seen = 0;
  await tour.walk(page, locale, async (name) => {
    for (const [what, look] of looks) {
      const faults = await look(page);
      if (faults.length > 0) found[`${name} ${what}`] = faults;
    }
    seen++;
  });
  expect(found).toEqual({});
  expect(seen).toBe(49);
});

test("what axe would find is found, light and dark", async () => {
  await using reader = await arrive(tour.curt.origin, { reducedMotion: "reduce" });
  const { page } = reader;
  await loadAxe(page);
  for (const [script, fault] of [
    ["document.documentElement.removeAttribute('lang')", "light: html-has-lang"],
    [adopt("@media (prefers-color-scheme: dark) { h1 { color: #222 } }"), "dark: color-contrast: <h1"],
  ] as const) {
    await page.goto("/");
    await page.evaluate(script);
    expect(await violationsOf(page)).toEqual([expect.stringContaining(fault)]);
  }
});

test("what does not fit is found", async () => {
  await using reader = await arrive(tour.curt.origin, { viewport: PHONE });
  const { page } = reader;
  for (const [style, fault] of [
    ["main { width: 400px }", "scrolls: "],
    ["h1 { white-space: nowrap; overflow: hidden }", "cut: <h1"],
    [".lead { margin-top: -2rem }", "over each other: "],
  ] as const) {
    await page.goto("/");
    expect(await faultsOf(page)).toEqual([]);
    await page.evaluate(adopt(style));
    expect((await faultsOf(page)).join("\n")).toContain(fault);
  }
});

test("what does not change sides is found", async () => {
  await using reader = await arrive(tour.curt.origin, { viewport: PHONE });
  const { page } = reader;
  for (const style of [
    "h1 { padding-left: 3px }",
    "h1 { text-align: left }",
    "h1 { border-right: 2px solid }",
  ]) {
    await page.goto("/");
    expect(await mirrorFaultsOf(page)).toEqual([]);
    await page.evaluate(adopt(style));
    expect((await mirrorFaultsOf(page)).join("\n")).toContain("not mirrored: <h1");
  }
});

test("what moves is found", async () => {
  await using reader = await arrive(tour.curt.origin);
  const { page } = reader;
  await page.emulateMedia({ reducedMotion: "no-preference" });
  await page.goto("/");
  expect(await movingOf(page)).not.toEqual([]);
});

/** A script for the page that adds a style sheet, which its policy would not allow it to load. */
function adopt(style: string): string {
  return `{ const sheet = new CSSStyleSheet(); sheet.replaceSync(${JSON.stringify(style)}); document.adoptedStyleSheets = [sheet]; }`;
}
