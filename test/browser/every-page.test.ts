// One reader sees every page here. `test/endurance/browser/every-page.test.ts` has the other languages and sizes.
import { expect, test } from "bun:test";

import { shareService } from "../support/service.ts";
import { loadAxe, violationsOf, violationsOfWords } from "./axe.ts";
import { LAPTOP, openPage, PHONE } from "./browser.ts";
import { AXE, FITS, FITS_ENLARGED, FRAMED, movingOf, STILL, testEveryPage } from "./every-page.ts";
import { faultsOf, frameFaultsOf, mirrorFaultsOf } from "./layout.ts";

testEveryPage([
  {
    locale: "en-GB",
    scale: 2,
    windows: [
      { where: "on a phone", size: PHONE, looks: [AXE, STILL, FRAMED, FITS_ENLARGED] },
      { where: "twice as large on a laptop", size: { width: 640, height: 400 }, looks: [FITS] },
      { where: "on a laptop", size: LAPTOP, looks: [FRAMED] },
    ],
  },
]);

const curt = shareService();

test("violationsOf reports what axe finds in light and in dark mode, and violationsOfWords ignores colours", async () => {
  await using page = await openPage(curt.origin);
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

test("faultsOf finds content that scrolls sideways, is cut or overlaps", async () => {
  await using page = await openPage(curt.origin, { viewport: PHONE });
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

test("frameFaultsOf finds a header, contents or a footer out of place", async () => {
  await using page = await openPage(curt.origin, { viewport: LAPTOP });
  for (const [style, fault] of [
    ["header { margin-left: 9px }", "frame: header"],
    ["header img { margin-left: 9px }", "frame: logo"],
    ["main { width: 500px }", "frame: width"],
    ["h1 { margin-left: 9px }", "frame: start"],
    ["main { margin-left: 9px }", "frame: middle"],
    ["body { min-height: 0 }", "frame: bottom"],
  ] as const) {
    await page.goto("/+privacy");
    await page.setViewportSize({ ...LAPTOP, height: 3000 });
    expect(await frameFaultsOf(page)).toEqual([]);
    await page.evaluate(adopt(style));
    expect((await frameFaultsOf(page)).join("\n")).toContain(fault);
  }
});

test("mirrorFaultsOf finds elements that keep their side in right-to-left layout", async () => {
  await using page = await openPage(curt.origin, { viewport: PHONE });
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

test("movingOf finds elements that move", async () => {
  await using page = await openPage(curt.origin);
  await page.emulateMedia({ reducedMotion: "no-preference" });
  await page.goto("/");
  expect(await movingOf(page)).not.toEqual([]);
});

/** A script for the page that adds a style sheet, which its policy would not allow it to load. */
function adopt(style: string): string {
  return `{ const sheet = new CSSStyleSheet(); sheet.replaceSync(${JSON.stringify(style)}); document.adoptedStyleSheets = [sheet]; }`;
}
