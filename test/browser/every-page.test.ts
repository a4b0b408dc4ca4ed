// Looks at every page in several windows. To get to all pages takes as long as to look at them, so a reader gets there once for
// all windows.
import { afterAll, beforeAll, expect, test } from "bun:test";

import type { Page } from "playwright-core";

import { loadAxe, violationsOf, violationsOfWords } from "./axe.ts";
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
/** The same of what differs between languages, which colours do not. */
const AXE_OF_WORDS: Look = ["is accessible in this language", violationsOfWords];
/** Who asks for less motion sees none. */
const STILL: Look = ["is still", movingOf];

/** A phone shows it in its own width, not as a small picture of a wide page. */
const SCALES: Look = [
  "is as wide as a phone",
  async (page) => {
    const told = await page.locator('meta[name="viewport"][content*="width=device-width"]').count();
    return told === 1 ? [] : ["it does not say so"];
  },
];

/** Large pages whose next look is at the same page with everything opened, where axe finds whatever it would find here. */
const OPENED_NEXT: ReadonlySet<string> = new Set(["preview", "reference"]);
/** Only for a page that hangs. */
const LIMIT_MS = 400_000;

interface Window {
  readonly where: string;
  readonly size: { readonly width: number; readonly height: number };
  readonly looks: readonly Look[];
}

interface Reader {
  readonly locale: string;
  readonly scale: number;
  /** The reader gets to each page in the first one, which then takes the size of the others. */
  readonly windows: readonly Window[];
}

const READERS: readonly Reader[] = [
  {
    locale: "en-GB",
    scale: 2,
    windows: [
      { where: "on a phone", size: PHONE, looks: [AXE, STILL] },
      { where: "twice as large on a laptop", size: { width: 640, height: 400 }, looks: [FITS] },
    ],
  },
  {
    locale: "ko-KR",
    scale: 1,
    windows: [
      { where: "on a phone", size: PHONE, looks: [AXE_OF_WORDS, FITS, SCALES] },
      { where: "on a laptop", size: LAPTOP, looks: [FITS] },
    ],
  },
  {
    locale: "ja-JP",
    scale: 4,
    windows: [
      {
        where: "four times as large on a laptop",
        size: { width: 320, height: 256 },
        looks: [FITS, MIRRORS],
      },
    ],
  },
];

test.each(READERS)(
  "every page fits, is still, and is accessible ($locale)",
  async ({ locale, scale, windows }) => {
    const [first] = windows;
    // A colour on its way from light to dark is neither, so the reader asks for less motion.
    await using reader = await arrive(tour.curt.origin, {
      locale,
      viewport: first?.size ?? LAPTOP,
      reducedMotion: "reduce",
      deviceScaleFactor: scale,
    });
    const { page } = reader;
    if (windows.some(({ looks }) => looks.some((look) => look === AXE || look === AXE_OF_WORDS)))
      await loadAxe(page);
    const found: Record<string, string[]> = {};
    let seen = 0;
    await tour.walk(page, locale, async (name) => {
      for (const { where, size, looks } of windows) {
        await page.setViewportSize(size);
        for (const [what, look] of looks) {
          if (look === violationsOf && OPENED_NEXT.has(name)) continue;
          const faults = await look(page);
          if (faults.length > 0) found[`${name} ${what} ${where}`] = faults;
        }
      }
      if (first !== undefined) await page.setViewportSize(first.size);
      seen++;
    });
    expect(found).toEqual({});
    expect(seen).toBe(49);
  },
  LIMIT_MS,
);

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
    const found = await violationsOfWords(page);
    expect(found).toHaveLength(fault.includes("color") ? 0 : 1);
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
