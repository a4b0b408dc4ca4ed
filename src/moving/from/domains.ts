import { UnreadableSource } from "../source.ts";
import { BadRow } from "./values.ts";

/** Names that are told. */
const MAX_DOMAINS = 1000;
const TOLD = 20;

/**
 * Keeps to one domain: the same code may lead elsewhere at another one. `take` throws {@link BadRow} for links of other
 * domains than the chosen one.
 */
export function openDomains(chosen: string | undefined) {
  const links = new Map<string, number>();
  const wanted = chosen === undefined ? undefined : toName(chosen);
  return {
    take(domain: string): void {
      const name = toName(domain);
      if (links.has(name) || name === wanted || links.size < MAX_DOMAINS)
        links.set(name, (links.get(name) ?? 0) + 1);
      if (wanted !== undefined && name !== wanted) throw new BadRow("it is of another domain");
    },
    /** To be called after the last link. Throws {@link UnreadableSource} if it is not clear which domain is meant. */
    end(): void {
      const told = [...links].slice(0, TOLD).map(([name, count]) => `${name} (${count})`);
      const names = [...told, ...(links.size > TOLD ? ["and others"] : [])].join(", ");
      if (wanted === undefined && links.size > 1)
        throw new UnreadableSource(`holds links of several domains. Choose one with --domain: ${names}.`);
      if (wanted !== undefined && !links.has(wanted))
        throw new UnreadableSource(`holds no links of the domain ${wanted}, only of: ${names || "none"}.`);
    },
  };
}

/** In the same spelling as in a short address, which has other scripts in Punycode. */
function toName(domain: string): string {
  return URL.parse(`https://${domain}`)?.host ?? domain.toLowerCase();
}
