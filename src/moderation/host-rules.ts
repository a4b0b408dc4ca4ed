import type { Reason } from "../links/reasons.ts";
import { type Target, targetHost } from "../links/target.ts";
import type { ListCheck } from "./blocklist/list-table.ts";
import type { GuardStore, HostRule } from "./store.ts";

/** Rules per read. More would delay redirects. */
const READ_AT_ONCE = 1000;

/** Holds the operator's rules about hosts in memory. If none applies, the blocklists decide. */
export function createHostRules(store: Pick<GuardStore, "hosts">, isListed: ListCheck = () => false) {
  let known: ReadonlyMap<string, HostRule> = new Map();
  let version = 0;

  /** The rule that applies to a target: its host's own, or else that of the nearest host above. */
  function ruleFor(target: Target): HostRule | undefined {
    return known.size === 0 ? undefined : nearest(targetHost(target), known);
  }

  return {
    /** Changes with each `read`. */
    version: () => version,
    size: () => known.size,
    /** Reads all rules. Until it resolves, the old ones apply. */
    async read(): Promise<void> {
      const all = new Map<string, HostRule>();
      for (let after: string | undefined = ""; after !== undefined;) {
        const rules = await store.hosts(after, READ_AT_ONCE);
        for (const rule of rules) all.set(rule.host, rule);
        after = rules.length < READ_AT_ONCE ? undefined : rules.at(-1)?.host;
        if (after !== undefined) await new Promise(setImmediate);
      }
      known = all;
      version++;
    },
    ruleFor,
    blocked: (target: Target): Reason | "blocklist" | undefined =>
      ruleFor(target)?.reason ?? (isListed(target) ? "blocklist" : undefined),
  };
}

export type HostRules = ReturnType<typeof createHostRules>;

/** No address has a rule of another one above it: WHATWG hosts that end in a number are whole IPv4 addresses. */
function nearest(host: string, rules: ReadonlyMap<string, HostRule>): HostRule | undefined {
  for (let name = host; ; name = name.slice(name.indexOf(".") + 1)) {
    const rule = rules.get(name);
    if (rule !== undefined || !name.includes(".")) return rule;
  }
}
