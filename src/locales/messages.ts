import Negotiator from "negotiator";

import { memoize, once } from "../lib/memoize.ts";
import { readCatalogues, type Text } from "./catalogues.ts" with { type: "macro" };
import type english from "./en.json";

export type MessageKey = keyof typeof english;
/** Numbers are formatted for the language. A function provides other texts that depend on it. */
export type Values = Readonly<Record<string, string | number | ((language: string) => string)>>;

type Catalogue = Readonly<Record<MessageKey, Text>>;

/**
 * Parsed with the first use, because a start needs none. A map, because Bun would inline a macro's plain object wherever its
 * name is used.
 */
const catalogues = new Map(
  Object.entries(readCatalogues()).map(([language, json]) => [
    language,
    once(() => JSON.parse(json) as Catalogue),
  ]),
);

/** BCP 47 tags, English first. */
export const LANGUAGES: readonly string[] = [...catalogues.keys()];
const DEFAULT_LANGUAGE = "en";

/** Chooses a language by `Accept-Language` (RFC 4647, section 3.4, "lookup"). English if none matches. */
export function negotiateLanguage(acceptLanguage: string | null): string {
  return acceptLanguage === null ? DEFAULT_LANGUAGE : negotiate(acceptLanguage);
}

const lookup = once(() => lookupAmong(LANGUAGES));
const negotiate = memoize((acceptLanguage) => {
  // In order of preference. Languages of weight 0 are left out.
  const ranges = new Negotiator({ headers: { "accept-language": acceptLanguage } }).languages();
  for (const range of ranges) {
    const found = lookup()(range);
    if (found !== undefined) return found;
  }
  return DEFAULT_LANGUAGE;
}, DEFAULT_LANGUAGE);

/**
 * Returns a message with its `{name}` placeholders filled from `values`. `language` is one of {@link LANGUAGES}. The `count`
 * of a message with plural forms is a number.
 */
export function message(language: string, key: MessageKey, values: Values = {}): string {
  const text = textOf(language, key) ?? textOf(DEFAULT_LANGUAGE, key) ?? key;
  if (typeof textOf(DEFAULT_LANGUAGE, key) !== "object" && typeof text === "string")
    return fill(language, text, values);
  // Japanese and Korean have no plural forms: one text for any count.
  const chosen =
    typeof text === "string" ? text : (text[counts(language)(String(values["count"])).form] ?? text.other);
  return fill(language, chosen, values);
}

/** The separator of sentences, also used after a colon: a space, or nothing in Japanese. */
export function sentenceSpace(language: string): string {
  return message(language, "page.sentences", { first: "", next: "" });
}

function textOf(language: string, key: MessageKey): Text | undefined {
  return catalogues.get(language)?.()[key];
}

/** Formats a count and chooses its plural form. Cached, because a chart has hundreds. */
const counts = memoize((language) => {
  const rules = new Intl.PluralRules(language);
  const format = new Intl.NumberFormat(language);
  return memoize((count) => ({ form: rules.select(Number(count)), written: format.format(Number(count)) }));
});

function fill(language: string, text: string, values: Values): string {
  // Most have no placeholders, and a page has dozens of messages.
  if (!text.includes("{")) return text;
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) => {
    const value = values[name] ?? placeholder;
    if (typeof value === "number") return counts(language)(String(value)).written;
    return typeof value === "function" ? value(language) : value;
  });
}

/** Whether a language is written from right to left, such as Arabic and Hebrew. */
export const isRightToLeft = memoize(
  (language) => new Intl.Locale(language).getTextInfo().direction === "rtl",
);

/** The name of a language in another one ("Korean" for ko in en), or by default in itself ("한국어"). */
export function languageName(named: string, language = named): string {
  return namesIn(language)(named);
}

const namesIn = memoize((language) => {
  const names = new Intl.DisplayNames(language, { type: "language" });
  return memoize((named) => names.of(named) ?? named);
});

/** The names of all {@link LANGUAGES}, such as "English or Korean". */
export function languageNames(language: string): string {
  const names = LANGUAGES.map((named) => languageName(named, language));
  return new Intl.ListFormat(language, { type: "disjunction" }).format(names);
}

/**
 * Creates a lookup (RFC 4647, section 3.4) among `languages`, which are BCP 47 tags. It compares scripts: "zh-HK" finds
 * "zh-TW", because both are Traditional Chinese, and never "zh-CN".
 * @internal
 */
export function lookupAmong(languages: readonly string[]): (range: string) => string | undefined {
  const known = new Map(languages.map((language) => [language.toLowerCase(), language]));
  const add = (tag: string, language: string) => known.set(tag, known.get(tag) ?? language);
  for (const language of languages) add(maximal(language), language);
  // A script stands for its most likely language: zh-TW for zh-Hant.
  for (const language of languages) {
    const written = maximal(language).split("-").slice(0, 2).join("-");
    add(written, known.get(maximal(written)) ?? language);
  }
  const primaries = new Set(languages.map(primaryOf));

  return (range) => {
    const lower = range.toLowerCase();
    const exact = known.get(lower);
    // Most ranges in a long header are of unknown languages. Finding their scripts would take a millisecond.
    if (exact !== undefined || !primaries.has(primaryOf(lower))) return exact;
    for (let tag = maximal(lower); tag !== ""; tag = tag.slice(0, Math.max(0, tag.lastIndexOf("-")))) {
      const found = known.get(tag);
      if (found !== undefined) return found;
    }
    return undefined;
  };
}

function primaryOf(tag: string): string {
  return tag.split("-", 1)[0]?.toLowerCase() ?? "";
}

/** With script and region, by the likely subtags of the Unicode CLDR: "zh-hant-hk" for "zh-HK". In lower case. */
function maximal(tag: string): string {
  try {
    return new Intl.Locale(tag).maximize().toString().toLowerCase();
  } catch {
    // It is not well-formed, but may start with a tag that is.
    return tag.toLowerCase();
  }
}
