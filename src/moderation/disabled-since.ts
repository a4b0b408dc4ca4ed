import type { LinkId } from "../links/store.ts";
import type { Target } from "../links/target.ts";
import type { HostRules } from "./host-rules.ts";
import type { GuardStore } from "./store.ts";

/** Entries about a code that are searched. */
const MAX_ENTRIES = 100;

interface SinceOptions {
  readonly store: Pick<GuardStore, "journal">;
  readonly hostRules: Pick<HostRules, "ruleFor">;
}

/** Tells since when a link is disabled, by itself or by the rule about its host. Undefined for a blocklist. */
export function createDisabledSince({ store, hostRules }: SinceOptions) {
  return async ({ code, createdMs, target }: LinkId & { readonly target: Target }) => {
    const entries = await store.journal({ code, limit: MAX_ENTRIES });
    const decided = entries.find(
      (entry) => entry.createdMs === createdMs && (entry.action === "disable" || entry.action === "enable"),
    );
    return decided?.action === "disable" ? decided.atMs : hostRules.ruleFor(target)?.sinceMs;
  };
}

export type DisabledSince = ReturnType<typeof createDisabledSince>;
