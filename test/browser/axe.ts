import type axe from "axe-core";
import type { Page } from "playwright-core";

const SOURCE = await Bun.file(new URL("axe.min.js", import.meta.resolve("axe-core"))).text();
/** What axe counts as passed it would describe at length; only violations are wanted. */
const ALL = { resultTypes: ["violations"] } satisfies axe.RunOptions;
/** Of all rules, only these look at colours, which is all that differs between light and dark, and is the same in all languages. */
const COLOUR_RULES = ["color-contrast", "link-in-text-block"];
const OF_COLOURS = { ...ALL, runOnly: COLOUR_RULES } satisfies axe.RunOptions;
const OF_WORDS = {
  ...ALL,
  rules: Object.fromEntries(COLOUR_RULES.map((rule) => [rule, { enabled: false }])),
} satisfies axe.RunOptions;

/** Gives axe to whatever the page opens from now on: the browser compiles it once, and not for each document anew. */
export async function loadAxe(page: Page): Promise<void> {
  await page.addInitScript(SOURCE);
}

/** What axe finds on the page, light and dark. The page stays dark. */
export async function violationsOf(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const [colorScheme, options] of [
    ["light", ALL],
    ["dark", OF_COLOURS],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    found.push(...(await run(page, options)).map((fault) => `${colorScheme}: ${fault}`));
  }
  return found;
}

/** What axe finds on the page without looking at its colours. */
export function violationsOfWords(page: Page): Promise<string[]> {
  return run(page, OF_WORDS);
}

async function run(page: Page, options: axe.RunOptions): Promise<string[]> {
  const violations = await page.evaluate<axe.Result[]>(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`,
  );
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}
