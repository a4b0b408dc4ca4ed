// Checks every page in several windows. Getting to all pages takes as long as checking them, so a reader gets there once for
// all windows.
import { afterAll, beforeAll, expect, test } from "bun:test";

import type { Page } from "playwright-core";

import { loadAxe, violationsOf, violationsOfWords } from "./axe.ts";
import { openPage, LAPTOP } from "./browser.ts";
import { faultsOf, frameFaultsOf, mirrorFaultsOf } from "./layout.ts";
import { prepareTour, type Tour } from "./tour.ts";

/** The elements that move on the page. */
export function movingOf(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll("*")].flatMap((element) =>
      [undefined, "::before", "::after"].map((part) => getComputedStyle(element, part)).filter(
        (style) => style.animationName !== "none" || /[1-9]/.test(style.transitionDuration)
          || style.scrollBehavior === "smooth",
      ).map(() => element.outerHTML.slice(0, 120)),
    )`);
}

/** A statement about a page, and a check that returns what contradicts it. */
export type Look = readonly [what: string, faultsOf: (page: Page) => Promise<string[]>];
/** Nothing scrolls sideways, is cut, or lies over something else. */
export const FITS: Look = ["fits", faultsOf];
/** Logo, header and footer are where they are on every page. */
export const FRAMED: Look = ["has the frame", frameFaultsOf];
/** The same with text twice as large, as chosen in the browser's settings. */
export const FITS_ENLARGED: Look = [
  "fits with larger text",
  async (page) => {
    const client = await page.context().newCDPSession(page);
    const setSize = (standard: number) => client.send("Page.setFontSizes", { fontSizes: { standard } });
    await setSize(32);
    const faults = await faultsOf(page);
    await setSize(16);
    await client.detach();
    return faults;
  },
];
/** The same, and start and end change sides, where a language is written from right to left. */
export const MIRRORS: Look = ["fits from right to left", mirrorFaultsOf];
/** Axe finds nothing, light or dark. */
export const AXE: Look = ["is accessible", violationsOf];
/** The same without the rules about colours, which don't differ between languages. */
export const AXE_OF_WORDS: Look = ["is accessible in this language", violationsOfWords];
/** Nothing moves for readers who prefer less motion. */
export const STILL: Look = ["is still", movingOf];

/** A phone shows it in its own width, not as a small picture of a wide page. */
export const SCALES: Look = [
  "is as wide as a phone",
  async (page) => {
    const viewports = await page.locator('meta[name="viewport"][content*="width=device-width"]').count();
    return viewports === 1 ? [] : ["it has no viewport of the device's width"];
  },
];

/** Axe skips these pages, because the next one has everything that they have. */
const SHOWN_AGAIN: ReadonlySet<string> = new Set([
  "home, all choices",
  "my links, many",
  "preview",
  "reference",
]);
/** Only for a page that hangs. */
const LIMIT_MS = 400_000;

interface Window {
  readonly where: string;
  readonly size: { readonly width: number; readonly height: number };
  readonly looks: readonly Look[];
}

export interface Reader {
  readonly locale: string;
  readonly scale: number;
  /** The reader gets to each page in the first one, which then takes the size of the others. */
  readonly windows: readonly Window[];
}

/** Tests all pages for each of these readers. */
export function testEveryPage(readers: readonly Reader[]): void {
  let tour: Tour;
  beforeAll(async () => {
    tour = await prepareTour();
  });
  afterAll(async () => {
    await tour[Symbol.asyncDispose]();
  });

  test.each(readers)(
    "every page has the frame, fits its window, has no motion and is accessible ($locale)",
    async ({ locale, scale, windows }) => {
      const [first] = windows;
      await using page = await openPage(tour.curt.origin, {
        locale,
        viewport: first?.size ?? LAPTOP,
        deviceScaleFactor: scale,
      });
      if (windows.some(({ looks }) => looks.some((look) => look === AXE || look === AXE_OF_WORDS)))
        await loadAxe(page);
      const found: Record<string, string[]> = {};
      let seen = 0;
      await tour.walk(page, locale, async (name) => {
        for (const { where, size, looks } of windows) {
          await page.setViewportSize(size);
          for (const [what, look] of looks) {
            if (look === violationsOf && SHOWN_AGAIN.has(name)) continue;
            const faults = await look(page);
            if (faults.length > 0) found[`${name} ${what} ${where}`] = faults;
          }
        }
        if (first !== undefined) await page.setViewportSize(first.size);
        seen++;
      });
      expect(found).toEqual({});
      expect(seen).toBe(50);
    },
    LIMIT_MS,
  );
}
