import { afterAll, beforeAll, expect, test } from "bun:test";

import axe from "axe-core";
import type { Page } from "playwright-core";

import { arrive, PHONE } from "./browser.ts";
import { prepareTour, type Tour } from "./tour.ts";

let tour: Tour;
beforeAll(async () => {
  tour = await prepareTour();
});
afterAll(async () => {
  await tour[Symbol.asyncDispose]();
});

/** What axe counts as passed it would describe at length; only violations are wanted. */
function findViolations(page: Page): Promise<axe.Result[]> {
  return page.evaluate(
    "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)",
  );
}

test.each(["en-GB", "ko-KR"])("axe finds nothing on any page, light or dark (%s)", async (locale) => {
  // A colour on its way from light to dark is neither.
  await using reader = await arrive(tour.curt.origin, {
    locale,
    viewport: PHONE,
    reducedMotion: "reduce",
  });
  const { page } = reader;
  const seen: string[] = [];
  await tour.walk(page, locale, async (name) => {
    await page.evaluate(axe.source);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      const found = await findViolations(page);
      const violations = found.flatMap(({ id, nodes }) =>
        nodes.map(({ html }) => `${name}, ${colorScheme}: ${id}: ${html}`),
      );
      expect(violations).toEqual([]);
    }
    seen.push(name);
  });
  expect(seen).toHaveLength(33);
});

test("axe is able to find something", async () => {
  await using reader = await arrive(tour.curt.origin);
  const { page } = reader;
  await page.goto("/");
  await page.evaluate("document.documentElement.removeAttribute('lang')");
  await page.evaluate(axe.source);
  const found = await findViolations(page);
  expect(found.map(({ id }) => id)).toContain("html-has-lang");
});
