import type { Blocked } from "../links/link-check.ts";
import { type Target, targetHost } from "../links/target.ts";
import type { ListCheck } from "./blocklist/list-table.ts";
import type { ModerationStore, HostRule } from "./moderation-store.ts";

/** Rules per read. More would delay redirects. */
const READ_AT_ONCE = 1000;

/** The operator's rules about hosts, in memory. */
export interface HostRules {
  /** Changes with each `read`. */
  version(): number;
  size(): number;
  /** Reads all rules. Until it resolves, the old ones apply. Rejects with `StoreUnavailable`. */
  read(): Promise<void>;
  /** The rule that applies to a target: its host's own, or else that of the nearest host above. */
  ruleFor(target: Target): HostRule | undefined;
  /** Why links to a target must not work, if so. If no rule applies, the blocklists decide. */
  readonly blocked: Blocked;
}

export function createHostRules(
  store: Pick<ModerationStore, "hosts">,
  isListed: ListCheck = () => false,
): HostRules {
  let known: ReadonlyMap<string, HostRule> = new Map();
  let version = 0;

  function ruleFor(target: Target): HostRule | undefined {
    return known.size === 0 ? undefined : nearest(targetHost(target), known);
  }

  return {
    version: () => version,
    size: () => known.size,
    async read() {
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
    blocked: (target) => ruleFor(target)?.reason ?? (isListed(target) ? "blocklist" : undefined),
  };
}

/**
 * The rule of a host or of the nearest one above it. No IPv4 address is above another, because WHATWG hosts that end in a
 * number are whole addresses.
 */
function nearest(host: string, rules: ReadonlyMap<string, HostRule>): HostRule | undefined {
  for (let name = host; ; name = name.slice(name.indexOf(".") + 1)) {
    const rule = rules.get(name);
    if (rule !== undefined || !name.includes(".")) return rule;
  }
}
