import type { LinkKey } from "../links/code.ts";
import type { Link, StoredLink } from "../links/link.ts";
import { type Target, targetHost } from "../links/target.ts";
import { isAddress, parseHost } from "./blocklist/domain-name.ts";
import type { RefusedDecision } from "./refusal.ts";

/** All parts narrow the search. Without any, it finds all links. */
export interface LinkQuery {
  /** The start of a code, or a part of the original URL, the target or the title. A to Z match in either case. */
  readonly text?: string | undefined;
  /** The text as the start of a key. */
  readonly key?: LinkKey | undefined;
  /** The target's host or a domain above it, as `canonicalHost` writes it. */
  readonly host?: string | undefined;
  /** The creator's name. */
  readonly createdBy?: string | undefined;
  /** The owner's name. */
  readonly owner?: string | undefined;
  /**
   * The prefix of a domain's keys. Finds only links that aren't disabled, and then the text may also be any part of a code or of an
   * owner's name. Undefined: all domains.
   */
  readonly keyPrefix?: string | undefined;
}

/** A search as the operator writes it. `q` is the text, with `by:` or `owner:` and a name in front of it. */
export const SEARCH_FIELDS = ["q", "host"] as const;
export type WrittenSearch = Readonly<Record<(typeof SEARCH_FIELDS)[number], string>>;

/** In front of the text, which may be empty. */
const NAMED = /^(by|owner):(\S+)\s*/;

/** Empty fields don't narrow the search. */
export function parseSearch({ q, host: written }: WrittenSearch): LinkQuery | RefusedDecision {
  const host = written === "" ? undefined : parseHost(written);
  if (written !== "" && host === undefined) return { kind: "refused", refusals: [{ rule: "host.invalid" }] };
  const text = q.trim();
  const [start = "", role, name] = NAMED.exec(text) ?? [];
  const who = role === "owner" ? { owner: name } : { createdBy: name };
  return { text: text.slice(start.length) || undefined, host, ...who };
}

/** "disabled" and "deleted" win over "ended". */
export type LinkState = "active" | "disabled" | "ended" | "deleted";

/** Where a search continues. Only the store that issued it understands it; any other text finds nothing. */
export type LinkCursor = string & { readonly __brand: "LinkCursor" };

export interface PageRequest {
  /** Without it, the search starts. */
  readonly cursor?: LinkCursor | undefined;
  /** At least 1. */
  readonly limit: number;
}

export interface LinkPage {
  /** Newest first. A request reads few links, so there may be fewer than the limit, or none, although more follow. */
  readonly links: readonly StoredLink[];
  /** Undefined once the search has looked at every link. */
  readonly cursor: LinkCursor | undefined;
  /** The share of all links that the search has looked at so far, from 0 to 1. */
  readonly searched: number;
}

/** The result of a search that can't find anything. */
export const NOTHING: LinkPage = { links: [], cursor: undefined, searched: 1 };

export function operatorStateOf(
  { disabled, endsMs }: Pick<Link, "disabled" | "endsMs">,
  nowMs: number,
): LinkState {
  if (disabled === "deleted") return "deleted";
  if (disabled !== undefined) return "disabled";
  return endsMs <= nowMs ? "ended" : "active";
}

/** Whether a link, found by the text of a search, also matches the rest. */
export function isWithin({ target, terms }: StoredLink, { host, createdBy, owner }: LinkQuery): boolean {
  return (
    (host === undefined || isTargetWithin(target, host)) &&
    (createdBy === undefined || terms?.createdBy === createdBy) &&
    (owner === undefined || terms?.owner === owner)
  );
}

/** Whether a target's host is this one or below it. */
export function isTargetWithin(target: Target, host: string): boolean {
  const own = targetHost(target);
  return host !== "" && (own === host || (!isAddress(host) && own.endsWith(`.${host}`)));
}
