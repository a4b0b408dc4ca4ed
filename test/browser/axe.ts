import type axe from "axe-core";
import type { Page } from "playwright-core";

const SOURCE = await Bun.file(new URL("axe.min.js", import.meta.resolve("axe-core"))).text();
/** Only violations: axe describes what passed at length. */
const ALL = { resultTypes: ["violations"] } satisfies axe.RunOptions;
/** The rules about colours. Only colours differ between light and dark, and they are the same in all languages. */
const COLOUR_RULES = ["color-contrast", "link-in-text-block"];
const OF_COLOURS = { ...ALL, runOnly: COLOUR_RULES } satisfies axe.RunOptions;
const OF_WORDS = {
  ...ALL,
  rules: Object.fromEntries(COLOUR_RULES.map((rule) => [rule, { enabled: false }])),
} satisfies axe.RunOptions;

/** Adds axe to each document that the page opens from now on. The browser compiles it only once. */
export async function loadAxe(page: Page): Promise<void> {
  await page.addInitScript(SOURCE);
}

/** The violations that axe finds on the page, light and dark. The page stays dark. */
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

/** The violations that axe finds without the rules about colours. */
export function violationsOfWords(page: Page): Promise<string[]> {
  return run(page, OF_WORDS);
}

async function run(page: Page, options: axe.RunOptions): Promise<string[]> {
  const violations = await page.evaluate<axe.Result[]>(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`,
  );
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}
