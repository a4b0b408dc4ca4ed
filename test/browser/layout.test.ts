import { afterAll, beforeAll, expect, test } from "bun:test";

import type { Page } from "playwright-core";

import { arrive, LAPTOP, PHONE } from "./browser.ts";
import { prepareTour, type Tour } from "./tour.ts";

let tour: Tour;
beforeAll(async () => {
  tour = await prepareTour();
});
afterAll(async () => {
  await tour[Symbol.asyncDispose]();
});

/**
 * In the page: what is wider than its box, and what lies over something else. Lines of text reach above and below
 * their letters, by the font that there is: so much may touch.
 */
const FAULTS = `(() => {
  const TOUCH = 0.3;
  const faults = [];
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) faults.push("scrolls: " + root.scrollWidth);
  const shown = [...document.body.querySelectorAll("*")].filter(
    (element) => element.checkVisibility() && element.closest(".skip, svg svg *, title") === null,
  );
  for (const element of shown) {
    if (element.matches("input, svg, svg *") || getComputedStyle(element).overflowX === "auto") continue;
    if (element.clientWidth > 0 && element.scrollWidth > element.clientWidth + 1)
      faults.push("cut: " + element.outerHTML.slice(0, 120));
  }
  const boxes = shown.flatMap((element) => {
    const texts = [...element.childNodes].filter((node) => node.nodeType === 3 && node.data.trim() !== "");
    const isControl = element.matches("button, .button, img, input:not([type=radio])");
    return [...texts, ...(isControl ? [element] : [])].flatMap((node) => {
      const range = document.createRange();
      range.selectNode(node);
      return [...range.getClientRects()].map((box) => ({ node, box }));
    });
  });
  boxes.forEach(({ node, box }, nth) => {
    for (const other of boxes.slice(nth + 1)) {
      if (node === other.node || node.contains(other.node) || other.node.contains(node)) continue;
      const width = Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left);
      const height = Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top);
      if (width > 1 && height > TOUCH * Math.min(box.height, other.box.height))
        faults.push("over each other: " + [node, other.node].map((one) => (one.data ?? one.outerHTML).slice(0, 60)).join(" | "));
    }
  });
  return faults;
})()`;

function faultsOf(page: Page): Promise<string[]> {
  return page.evaluate(FAULTS);
}

test.each([
  ["en-GB", "twice as large on a laptop", { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 }],
  [
    "en-GB",
    "four times as large on a laptop",
    { viewport: { width: 320, height: 256 }, deviceScaleFactor: 4 },
  ],
  ["ko-KR", "on a phone", { viewport: PHONE, hasTouch: true, isMobile: true }],
  ["ko-KR", "on a laptop", { viewport: LAPTOP }],
] as const)(
  "every page fits its window: nothing scrolls sideways, is cut, or lies over something else (%s, %s)",
  async (locale, _what, options) => {
    await using reader = await arrive(tour.curt.origin, { locale, ...options });
    const { page } = reader;
    const faults: Record<string, string[]> = {};
    await tour.walk(page, locale, async (name) => {
      const found = await faultsOf(page);
      if (found.length > 0) faults[name] = found;
    });
    expect(faults).toEqual({});
  },
);

test("what does not fit is found", async () => {
  await using reader = await arrive(tour.curt.origin, { viewport: PHONE });
  const { page } = reader;
  for (const [style, fault] of [
    ["main { width: 400px }", "scrolls: "],
    ["h1 { white-space: nowrap; overflow: hidden }", "cut: <h1"],
    [".soft { margin-top: -2rem }", "over each other: "],
  ] as const) {
    await page.goto("/");
    expect(await faultsOf(page)).toEqual([]);
    await page.evaluate(
      `{ const sheet = new CSSStyleSheet(); sheet.replaceSync(${JSON.stringify(style)}); document.adoptedStyleSheets = [sheet]; }`,
    );
    expect((await faultsOf(page)).join("\n")).toContain(fault);
  }
});

test("who asks for less motion sees none", async () => {
  await using reader = await arrive(tour.curt.origin, { reducedMotion: "reduce" });
  const { page } = reader;
  const moving = `[...document.querySelectorAll("*")].flatMap((element) =>
      [undefined, "::before", "::after"].map((part) => getComputedStyle(element, part)).filter(
        (style) => style.animationName !== "none" || /[1-9]/.test(style.transitionDuration)
          || style.scrollBehavior === "smooth",
      ).map(() => element.outerHTML.slice(0, 120)),
    )`;
  await tour.walk(page, "en-GB", async () => {
    expect(await page.evaluate<string[]>(moving)).toEqual([]);
  });
  await page.emulateMedia({ reducedMotion: "no-preference" });
  await page.goto("/");
  expect(await page.evaluate<string[]>(moving)).not.toEqual([]);
});
