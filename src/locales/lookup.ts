/**
 * Makes a lookup (RFC 4647, section 3.4) among `languages`, which are BCP 47 tags. It knows in which script a language is
 * written where: "zh-HK" finds "zh-TW", both being Traditional Chinese, and never "zh-CN".
 */
export function lookupAmong(languages: readonly string[]): (range: string) => string | undefined {
  const known = new Map(languages.map((language) => [language.toLowerCase(), language]));
  const add = (tag: string, language: string) => known.set(tag, known.get(tag) ?? language);
  for (const language of languages) add(maximal(language), language);
  // Of the languages in one script, the most likely one answers for the script: zh-TW for zh-Hant.
  for (const language of languages) {
    const written = maximal(language).split("-").slice(0, 2).join("-");
    add(written, known.get(maximal(written)) ?? language);
  }
  const primaries = new Set(languages.map(primaryOf));

  return (range) => {
    const asked = range.toLowerCase();
    const exact = known.get(asked);
    // Most ranges in a long header are of languages that are not there. Asking for their scripts would take a millisecond.
    if (exact !== undefined || !primaries.has(primaryOf(asked))) return exact;
    for (let tag = maximal(asked); tag !== ""; tag = tag.slice(0, Math.max(0, tag.lastIndexOf("-")))) {
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
    // It is not well-formed, but may begin with something that is.
    return tag.toLowerCase();
  }
}
