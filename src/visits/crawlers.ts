import crawlers from "crawler-user-agents";

/**
 * Patterns that also match browsers, apps and phones. Crawlers with these names are recognised in other ways, see
 * `user-agent.ts`.
 */
const TOO_WIDE = new Set(["Daum\\/", "Fluid", "GoPay", "Sogou", "Sonic", "Trove", "Viber"]);

/** Patterns without special characters, other than escaped ones. */
const PLAIN = /^(?:[^\\^$.*+?()[\]{}|]|\\\W){3,}$/;

/** The types of the package lack the tags. */
const tagged: readonly { readonly pattern: string; readonly tags?: readonly string[] }[] = crawlers;
/** Tags of tools with which somebody opens one link, unlike crawlers. */
const TOOLS = new Set(["http-library", "browser-automation"]);

const patterns = crawlers.map(({ pattern }) => pattern).filter((pattern) => !TOO_WIDE.has(pattern));

// The functions are macros: they run when the importing file is compiled. This keeps half a megabyte of the package's
// examples out of the program.

/** The patterns that are plain texts of three characters or more, which most are. One per line. */
export function crawlerNames(): string {
  return patterns
    .filter((pattern) => PLAIN.test(pattern))
    .map((pattern) => pattern.replace(/\\(\W)/g, "$1"))
    .join("\n");
}

/** All other patterns, as one. */
export function crawlerPatterns(): string {
  return patterns.filter((pattern) => !PLAIN.test(pattern)).join("|");
}

/** HTTP libraries and automated browsers, as one pattern. */
export function toolPatterns(): string {
  return tagged
    .filter(({ tags = [] }) => tags.some((tag) => TOOLS.has(tag)))
    .map(({ pattern }) => pattern)
    .join("|");
}
