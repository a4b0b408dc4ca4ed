import Negotiator from "negotiator";

import { memoize } from "../memoize.ts";
import { readCatalogues } from "./catalogues.ts" with { type: "macro" };
import type english from "./en.json";

export type MessageKey = keyof typeof english;
export type Values = Readonly<Record<string, string | number>>;

const catalogues: Record<string, Record<MessageKey, string>> = readCatalogues() as never;

/** BCP 47 tags, English first. */
export const LANGUAGES: readonly string[] = Object.keys(catalogues);
const DEFAULT_LANGUAGE = "en";

/** The language for an `Accept-Language` (RFC 4647, section 3.4: lookup); English where none fits. */
export function negotiateLanguage(acceptLanguage: string | null): string {
  return acceptLanguage === null ? DEFAULT_LANGUAGE : negotiate(acceptLanguage);
}

const negotiate = memoize((acceptLanguage) => {
  // In the caller's order of preference, without those of weight 0.
  const ranges = new Negotiator({ headers: { "accept-language": acceptLanguage } }).languages();
  for (const range of ranges) {
    for (let tag = range.toLowerCase(); tag !== ""; tag = tag.slice(0, Math.max(0, tag.lastIndexOf("-")))) {
      const found = LANGUAGES.find((language) => language.toLowerCase() === tag);
      if (found !== undefined) return found;
    }
  }
  return DEFAULT_LANGUAGE;
}, DEFAULT_LANGUAGE);

/** A message in one of {@link LANGUAGES}, its `{name}` placeholders filled from `values`. */
export function message(language: string, key: MessageKey, values: Values = {}): string {
  const text = (catalogues[language] ?? catalogues[DEFAULT_LANGUAGE])?.[key] ?? key;
  // Most have none, and a page has dozens of messages.
  if (!text.includes("{")) return text;
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) => String(values[name] ?? placeholder));
}

/** A language's name in words of a language: "한국어" in its own, "Korean" in English. */
export function languageName(named: string, language = named): string {
  return namesIn(language).of(named) ?? named;
}

const namesIn = memoize((language) => new Intl.DisplayNames(language, { type: "language" }));

/** All of {@link LANGUAGES} in words of one of them: "English or Korean". */
export function languageNames(language: string): string {
  const names = LANGUAGES.map((named) => languageName(named, language));
  return new Intl.ListFormat(language, { type: "disjunction" }).format(names);
}
