import crawlers from "crawler-user-agents";

/**
 * Words that also stand in the user agents of browsers, apps and phones people use. What crawls under these names
 * is found by its form.
 */
const TOO_WIDE = new Set(["Daum\\/", "Fluid", "GoPay", "Sogou", "Sonic", "Trove", "Viber"]);

/** A macro: runs while the importing file is compiled, so that half a megabyte of examples stays outside. */
export function crawlerPatterns(): string {
  return crawlers
    .map(({ pattern }) => pattern)
    .filter((pattern) => !TOO_WIDE.has(pattern))
    .join("|");
}
