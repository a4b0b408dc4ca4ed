import crawlers from "crawler-user-agents";

/**
 * Patterns that also match browsers, apps and phones. Crawlers with these names are recognised in other ways, see
 * `agent.ts`.
 */
const TOO_WIDE = new Set(["Daum\\/", "Fluid", "GoPay", "Sogou", "Sonic", "Trove", "Viber"]);

/** Patterns without special characters, other than escaped ones. */
const PLAIN = /^(?:[^\\^$.*+?()[\]{}|]|\\\W){3,}$/;

/** The package's types for modules leave its tags out. */
const tagged: readonly { readonly pattern: string; readonly tags?: readonly string[] }[] = crawlers;
/** Tags of programs that somebody starts to open one link, rather than to look at whatever they find. */
const TOOLS = new Set(["http-library", "browser-automation"]);

const patterns = crawlers.map(({ pattern }) => pattern).filter((pattern) => !TOO_WIDE.has(pattern));

// The functions are macros: they run when the importing file is compiled. This keeps half a megabyte of the package's
// examples out of the program.

/** Almost all patterns are just texts of three characters or more: these, one a line. */
export function crawlerNames(): string {
  return patterns
    .filter((pattern) => PLAIN.test(pattern))
    .map((pattern) => pattern.replace(/\\(\W)/g, "$1"))
    .join("\n");
}

/** The other patterns, as one. */
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
