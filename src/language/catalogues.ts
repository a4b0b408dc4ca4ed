import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

type Catalogue = Readonly<Record<string, string>>;

/**
 * Reads every `<language>.json` in this folder, English first. To add a language, add its file.
 *
 * This is a macro: it runs when the module that calls it is compiled. If the keys or placeholders of a catalogue
 * differ from the English ones, the build and the start fail.
 */
export function readCatalogues(): Record<string, Catalogue> {
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
      (key) => placeholders(english[key]) !== placeholders(catalogue[key]),
    );
    if (differing.length > 0)
      throw new Error(`${language}.json differs from en.json in: ${differing.join(", ")}`);
  }
  return catalogues;
}

function placeholders(message: string | undefined): string | undefined {
  return message === undefined ? undefined : `{${(message.match(/\{\w+\}/g) ?? []).toSorted().join()}}`;
}
