import type { Opened, OtherRevision } from "../links/change.ts";
import type { Code, CodeCase, LinkKey } from "../links/code.ts";
import type { EditsClosed } from "../links/edit.ts";
import type { Decided, Decision, EntryId, LinkId } from "../links/link-store.ts";
import type { Reason } from "../links/problem.ts";
import type { OpenName } from "../links/terms/terms.ts";
import type { AnswerAction, CaseStore } from "./case.ts";
import type { CountStore } from "./counters.ts";
import type { Figures } from "./figures.ts";
import type { LinkPage, LinkQuery, PageRequest } from "./link-query.ts";

/**
 * Stores the operator's decisions. Every implementation must pass `test/stores/moderation.ts`. A method that cannot answer
 * rejects with `StoreUnavailable`.
 */
export interface ModerationStore<Id extends Code | LinkKey = LinkKey> extends CaseStore<Id>, CountStore {
  /** Returns at most `limit` rules whose hosts come after `after` (at first ""), in the order of their hosts. */
  hosts(after: string, limit: number): Promise<readonly HostRule[]>;
  /**
   * Adds or replaces the rule of a host durably. The same transaction adds the entries in the operator's journal and in the
   * changes. A rule with the same reason stays as it is.
   */
  blockHost(rule: Pick<HostRule, "host" | "reason">, decision: Decision): Promise<Decided>;
  /** Removes the rule of a host, with an entry as well. */
  unblockHost(host: string, decision: Decision): Promise<Decided>;
  /**
   * Restores what a decision replaced, durably and in one transaction, with an entry of its own. A decision about one link or
   * host isn't undone while a later decision about it stands; one about several links is undone for the others. A case
   * that was opened since stays open. With `opened`, it only undoes a person's correction of that link.
   */
  undo(
    entry: EntryId,
    decision: Decision,
    opened?: OpenedForUndo<Id>,
  ): Promise<Undone | NotUndone | EditsClosed | OtherRevision>;
  /** Reads the operator's journal, newest first. Entries never change. */
  decisions(query: DecisionQuery): Promise<readonly DecisionEntry[]>;
  /** Finds links. Each request reads a bounded number of links, and the next one continues with its cursor. */
  search(query: LinkQuery, page: PageRequest): Promise<LinkPage>;
  figures(nowMs: number): Promise<Figures>;
  /** Ends a session of the operator for all processes, durably. Forgets those that would have ended by `forgetByMs`. */
  endSession(session: EndedSession, forgetByMs: number): Promise<void>;
  isSessionEnded(digest: Uint8Array): Promise<boolean>;
  /** Compares the hosts of BASE_URL and DOMAINS with those of former starts, and remembers them unless any has moved. */
  rememberHosts(baseHost: string, domainHosts: readonly string[], nowMs: number): Promise<KnownHosts>;
  /** Chooses the rule for capitals in codes, until there are links. Returns the one that the store has. */
  rememberCodeCase(codeCase: CodeCase): Promise<CodeCase>;
  /** Keeps this rule permanently if the store has it. However many processes call both at once, links are created by one rule. */
  fixCodeCase(codeCase: CodeCase): Promise<CodeCase>;
}

/** A link that a person may correct. */
export interface OpenedForUndo<Id extends Code | LinkKey = LinkKey> extends LinkId<Id>, Opened {
  /** Whether the setting EDITS still allows another destination. */
  readonly canRetarget: boolean;
}

export interface KnownHosts {
  /** Hosts of DOMAINS that were BASE_URL's when links were created, and have no links of their own. */
  readonly moved: readonly string[];
  /** Hosts that are no longer in DOMAINS, although there are links of theirs. */
  readonly removed: readonly string[];
}

export interface EndedSession {
  /** SHA-256 of the cookie's value. */
  readonly digest: Uint8Array;
  /** When it would have ended at the latest. */
  readonly endsMs: number;
}

/** Disables all links to a host and the hosts below it. */
export interface HostRule {
  /** As `canonicalHost` writes it. */
  readonly host: string;
  readonly reason: Reason;
  readonly sinceMs: number;
}

export const ACTIONS = [
  "disable",
  "enable",
  "change",
  "correct",
  "hand-over",
  "erase",
  "block-host",
  "unblock-host",
  "nothing-wrong",
  "reopen",
  "undo",
] as const;
export type Action = (typeof ACTIONS)[number];

/** Who did what to which link or host, when, and why. */
export interface DecisionEntry extends Decision {
  readonly entry: EntryId;
  readonly action: Action;
  readonly reason?: Reason | undefined;
  /** Undefined for a decision about several links, unless the query names one of them. */
  readonly code?: LinkKey | undefined;
  /** Which link of the code. */
  readonly createdMs?: number | undefined;
  readonly host?: string | undefined;
  /** The entry that this one undoes. */
  readonly undoes?: EntryId | undefined;
  /** How many links it is about. Undefined for entries of an earlier Curt, which can't be undone. */
  readonly links?: number | undefined;
  readonly replaced: readonly Replaced[];
  /** The entry that has undone it, for the link of the query or at least partly. */
  readonly undone?: EntryId | undefined;
  /** Whether {@link ModerationStore.undo} would change something now, or the page has too many values to compare. */
  readonly isUndoable: boolean;
}

/** Equal states that a decision replaced, and their number. */
export type Replaced = { readonly count: number } & (
  | {
      readonly kind: "link";
      /** Why it was disabled. Undefined: it redirected. */
      readonly value?: Reason | undefined;
    }
  | {
      readonly kind: "case";
      /** Undefined: it was open. */
      readonly value?: AnswerAction | undefined;
      /** Whether reports had disabled its link. */
      readonly byReports: boolean;
    }
  | {
      /** Terms are texts, see `termTexts`. */
      readonly kind: "owner" | "target" | OpenName;
      /** The former owner, the former destination as it was sent, or the former term. Undefined: none. */
      readonly value?: string | undefined;
      /** The new one. */
      readonly became: string | undefined;
    }
  | {
      readonly kind: "host";
      /** Why it was blocked. Undefined: it wasn't. */
      readonly value?: Reason | undefined;
    }
);

interface Undone extends Decided {
  /** Links that somebody has decided about since, or that are gone. */
  readonly skipped: number;
}

/** Why a decision can't be undone, and the present state. */
export type NotUndone =
  | { readonly kind: "decision.unknown" }
  | {
      readonly kind: "decision.undone" | "decision.superseded" | "decision.final";
      /** The link, if the decision was about one: null if it redirects, undefined if it is gone. */
      readonly disabled?: Reason | "deleted" | null | undefined;
      /** The rule of the host, if the decision was about one: null if there is none. */
      readonly blocked?: Reason | null | undefined;
    };

export interface DecisionQuery {
  readonly limit: number;
  /** Only entries that are older than this one. */
  readonly before?: EntryId | undefined;
  /** Only those about this link, not about another one of its code. */
  readonly link?: LinkId | undefined;
  /** Only changes of the link by people, and its hand-overs. */
  readonly forColleagues?: boolean;
  readonly host?: string | undefined;
  readonly filter?: DecisionFilter | undefined;
}

/** Only these actions, by this name unless it is "", in entries that are newer than `after`. */
export interface DecisionFilter {
  readonly after: EntryId;
  readonly by: string;
  readonly actions: readonly Action[];
}
