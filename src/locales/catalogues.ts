import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A message, or one for each plural category of the language ("one", "other"), chosen by its `{count}`. */
export type Text = string | Readonly<Partial<Record<Intl.LDMLPluralRule, string>> & Record<"other", string>>;
type Catalogue = Readonly<Record<string, Text>>;

/**
 * Reads every `<language>.json` in this folder as JSON, English first. To add a language, add its file.
 *
 * This is a macro: it runs when the module that calls it is compiled. If the keys or placeholders of a catalogue
 * differ from the English ones, or a plural lacks a form that its language has, the build and the start fail.
 */
export function readCatalogues(): Record<string, string> {
  const languages = readdirSync(import.meta.dir)
    .filter((file) => file.endsWith(".json"))
    .map((file) => file.slice(0, -".json".length))
    .toSorted((a, b) => Number(b === "en") - Number(a === "en") || a.localeCompare(b));
  const catalogues: Record<string, Catalogue> = {};
  for (const language of languages) {
    catalogues[language] = JSON.parse(readFileSync(join(import.meta.dir, `${language}.json`), "utf8"));
  }
  const english = catalogues["en"] ?? {};
  for (const [language, catalogue] of Object.entries(catalogues)) {
    const differing = [...new Set([...Object.keys(english), ...Object.keys(catalogue)])].filter(
      (key) => !isConsistent(language, catalogue[key], english[key]),
    );
    if (differing.length > 0)
      throw new Error(`${language}.json differs from en.json in: ${differing.join(", ")}`);
  }
  return Object.fromEntries(
    Object.entries(catalogues).map(([language, catalogue]) => [language, JSON.stringify(catalogue)]),
  );
}

/** Whether a message has the same placeholders as the English one, and plural forms if that has them. */
function isConsistent(language: string, text: Text | undefined, english: Text | undefined): boolean {
  if (text === undefined || english === undefined) return false;
  const expected = placeholders(typeof english === "string" ? english : english.other);
  if (typeof text === "string") {
    const isEnough = typeof english === "string" || formsOf(language) === "other";
    return isEnough && placeholders(text) === expected;
  }
  const { other, ...others } = text;
  return (
    typeof english !== "string" &&
    expected.includes("{count}") &&
    Object.keys(text).toSorted().join() === formsOf(language) &&
    placeholders(other) === expected &&
    // A form for one number may leave out the count.
    Object.values(others).every((form) =>
      [form, `${form}{count}`].some((one) => placeholders(one) === expected),
    )
  );
}

/** The plural forms for whole numbers: "one,other" for English. Forms for millions or fractions may be left out. */
function formsOf(language: string): string {
  const rules = new Intl.PluralRules(language);
  const forms = Array.from({ length: 1000 }, (_, count) => rules.select(count));
  return [...new Set([...forms, "other"])].toSorted().join();
}

function placeholders(message: string): string {
  return (message.match(/\{\w+\}/g) ?? []).toSorted().join();
}
