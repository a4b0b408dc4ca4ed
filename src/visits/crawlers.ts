import crawlers from "crawler-user-agents";

/**
 * Patterns that also match browsers, apps and phones. Crawlers with these names are recognised in other ways, see
 * `agent.ts`.
 */
const TOO_WIDE = new Set(["Daum\\/", "Fluid", "GoPay", "Sogou", "Sonic", "Trove", "Viber"]);

/**
 * This is a macro: it runs when the importing file is compiled. This keeps half a megabyte of the package's examples
 * out of the program.
 */
export function crawlerPatterns(): string {
  return crawlers
    .map(({ pattern }) => pattern)
    .filter((pattern) => !TOO_WIDE.has(pattern))
    .join("|");
}
