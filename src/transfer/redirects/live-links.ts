import { splitKey } from "../../links/code.ts";
import { createLinkCheck } from "../../links/link-check.ts";
import { forwardsPath, forwardsQuery, hasPassword, isLimited, type StoredLink } from "../../links/link.ts";
import { isProblem } from "../../links/problem.ts";
import { withPath } from "../../links/terms/passed-path.ts";
import { NEVER_MS } from "../../links/time.ts";
import type { ListCheck } from "../../moderation/blocklist/list-table.ts";
import { createHostRules } from "../../moderation/host-rules.ts";
import type { ReadRecords } from "../../store/shared/records.ts";

/** Which links are left out. */
export type LeftOut = `links ${string}`;

export interface LiveLinkOptions {
  readonly nowMs: number;
  readonly isListed: ListCheck;
  /** Whether to take links that end later. */
  readonly withEnding: boolean;
  /** The domains that are served. */
  readonly keyPrefixes: readonly string[];
}

const STATES: Readonly<Record<string, LeftOut>> = {
  unknown: "links that have not started",
  expired: "links that have ended",
  disabled: "links that are disabled, deleted or blocked",
};

/** Returns a check for the links of a snapshot: those that redirect everybody to the same destination now are in. */
export async function createLiveLinkCheck(read: ReadRecords, options: LiveLinkOptions) {
  const { nowMs, isListed, withEnding, keyPrefixes } = options;
  const rules = (await Array.fromAsync(read("host"))).flat();
  const hostRules = createHostRules({ hosts: async (after) => (after === "" ? rules : []) }, isListed);
  await hostRules.read();
  const { unlessProblem } = createLinkCheck({ nowMs: () => nowMs }, hostRules.blocked);

  return (link: StoredLink) => {
    const state = unlessProblem(link);
    if (isProblem(state)) return STATES[state.kind] ?? "links that do not redirect";
    if (hasPassword(link)) return "links with a password";
    if (isLimited(link)) return "links with a limit of visits";
    const { target, endsMs } = link;
    if (!withEnding && endsMs < NEVER_MS) return "links that end later (--ending writes them)";
    const { keyPrefix, code: stored } = splitKey(link.code);
    const code = link.terms?.capitals ?? stored;
    if (!keyPrefixes.includes(keyPrefix)) return "links of domains that are not in DOMAINS";
    // An imported file may have them. `..` would lead out of the folder of pages.
    if (/[/+.]/.test(code)) return "links whose code no address can have";
    // Formats escape everything else. A line break would write lines of its own.
    if (/\p{Cc}/u.test(code)) return "links with control characters";
    return {
      keyPrefix,
      code,
      stored,
      // Without a path, also in place of {path}.
      target: forwardsPath(link) ? (withPath(target, "") ?? target) : target,
      endsMs,
      losesQuery: forwardsQuery(link),
      losesPath: forwardsPath(link),
    };
  };
}
