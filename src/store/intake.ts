import type { Link } from "../links/link.ts";
import type { LinkDay } from "./records.ts";

/** A link from elsewhere, and all its visits. Their days are closed: they hold no hashes of visitors. */
export interface ArrivingLink extends Link {
  readonly days: readonly Pick<LinkDay, "day" | "visits" | "bots" | "detail">[];
}

/** Adds links from elsewhere to a store, also while it is served. Methods reject with `StoreUnavailable` if they cannot. */
export interface Intake {
  /**
   * Adds links with their visits, all in one transaction. A code that is there is left alone, even if its link has ended:
   * its link is the outcome, in the order of `links`. Undefined for each link that was added.
   */
  add(links: readonly ArrivingLink[]): Promise<readonly (Link | undefined)[]>;
  close(): Promise<void>;
}
