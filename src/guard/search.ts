import type { Link } from "../links/link.ts";
import { type Target, targetHost } from "../links/target.ts";
import { isAddress } from "./domain-name.ts";

/** Every part narrows the search. Without any, all links are found. */
export interface LinkQuery {
  /** A code, its beginning, or a part of the original URL or of the target. Letters A to Z match in either case in URLs. */
  readonly text?: string | undefined;
  /** The target's host or a domain above it, as `canonicalHost` writes it. */
  readonly host?: string | undefined;
  readonly state?: LinkState | undefined;
  /** The first instant. */
  readonly madeFromMs?: number | undefined;
  /** The instant after the last. */
  readonly madeBeforeMs?: number | undefined;
}

/** A link that was disabled or deleted counts as that, whether it has ended or not. */
export const LINK_STATES = ["active", "disabled", "ended", "deleted"] as const;
export type LinkState = (typeof LINK_STATES)[number];

/** Where a search goes on. Only the store that issued it understands it; another text finds nothing. */
export type LinkCursor = string & { readonly __brand: "LinkCursor" };

/** Which part of the results is asked for. */
export interface PageRequest {
  /** Without it, the search begins. */
  readonly cursor?: LinkCursor | undefined;
  readonly limit: number;
  /** Tells which links have ended. */
  readonly nowMs: number;
}

export interface LinkPage {
  /**
   * Newest first, except that links whose code matches the text come before those whose URL does. There may be fewer
   * than the limit, or none, although more follow: a request looks at a bounded number of links.
   */
  readonly links: readonly Link[];
  /** Undefined once every link was looked at. */
  readonly cursor: LinkCursor | undefined;
  /** When the oldest link that was looked at was made. Undefined if nothing is left, or if no links were walked through. */
  readonly lookedBackToMs: number | undefined;
}

export function stateOf({ disabled, endsMs }: Link, nowMs: number): LinkState {
  if (disabled === "deleted") return "deleted";
  if (disabled !== undefined) return "disabled";
  return endsMs <= nowMs ? "ended" : "active";
}

/** Whether a target's host is this one, or below it. */
export function leadsTo(target: Target, host: string): boolean {
  const found = targetHost(target);
  return host !== "" && (found === host || (!isAddress(host) && found.endsWith(`.${host}`)));
}
