/**
 * Commands to Curt and the observations after them, in words of no particular door: the model, the doors and the player share them.
 */

/** Settings of the server. Limits are off. */
export interface Settings {
  /** Origin of the short addresses, `BASE_URL`. */
  readonly origin: string;
  /** Links to these hosts would loop: those of `BASE_URL`, `ALIASES` and `DOMAINS`. */
  readonly ownHosts: readonly string[];
  readonly codeHoldMs: number;
  /** Whether codes that differ in capitals are different. */
  readonly codeCase: "match" | "ignore";
  /** `undefined`: links never expire unless their maker says so. */
  readonly defaultExpiryMs: number | undefined;
  /** Reports that disable a link; `undefined`: none do. */
  readonly reportThreshold: number | undefined;
  /** For how long makers may change destinations; `Infinity`: always. */
  readonly editsMs: number;
  readonly processes: number;
  readonly posture: "public" | "private";
  /** Who corrects links of others, where a proxy names people; `undefined`: it names nobody, and everybody creates. */
  readonly editors: "maker" | "everybody" | undefined;
  /** Names of accepted tokens. */
  readonly operators: readonly string[];
  readonly creators: readonly string[];
  readonly events: boolean;
}

/** A code as the store has it: NFC without U+FE0F, and without capitals if they don't matter; a code of `DOMAINS` starts with its host and a slash. */
export type Key = string;
export type Reason = "malware" | "phishing" | "spam" | "illegal" | "legal" | "other";
export type CaseAnswer = "disable" | "block-host" | "nothing" | "erase";

/** An entry of the journal. */
export interface Entry {
  readonly who: "operator" | "reports" | "person";
  readonly by?: string | undefined;
  readonly action: string;
  readonly key?: Key | undefined;
  readonly host?: string | undefined;
  readonly reason?: Reason | undefined;
}

export interface Event {
  readonly type: string;
  /** A key, or a host for `host.blocked`. */
  readonly subject: string;
  readonly by?: string | undefined;
  readonly reason?: Reason | "deleted" | undefined;
  /** The documents leave open whether it is sent, and where it stands among the others of its subject. */
  readonly maybe?: boolean;
}

export interface Visits {
  readonly people: number;
  readonly bots: number;
}

// ------------------------------------------------------------------------------------------------------- commands

/** A maker's key: the one that the answer to command `of` gave for its link number `nth`. */
export type MakerKey = { readonly of: number; readonly nth: number } | "wrong" | undefined;

/** `If-Match`: the version that the answer to command `seenBy` showed for this link; `undefined`: no header. */
export type Match = { readonly seenBy: number } | "*" | undefined;

/** A time in a body: a duration from now in ms (one of the four words), an instant in Unix ms, or never. */
export type Time = { readonly inMs: number } | { readonly atMs: number } | null;

export interface Terms {
  readonly target?: string;
  readonly ends?: Time;
  readonly starts?: Time;
  readonly maxVisits?: number | null;
  readonly password?: string | null;
  readonly forwardQuery?: boolean;
  readonly forwardPath?: boolean;
  readonly title?: string | null;
  /** Only in changes. */
  readonly owner?: string;
}

export interface NewLink extends Terms {
  readonly target: string;
  /** Without one, the service generates it. */
  readonly code?: string;
}

/** Which links an operator's search finds: by a part of the code's start or destination (`q`), a host, a creator, an owner. */
export interface Search {
  readonly q?: string;
  readonly host?: string;
  readonly by?: string;
  readonly owner?: string;
}

export type Visitor = "person" | "library" | "crawler" | "prefetch";

interface Sent {
  /** Ordinal in the sequence. */
  readonly id: number;
  /** "api", "shorten", "form", "desk", "import", …: the rules don't depend on it, only which fields of an answer show. */
  readonly door: string;
  /** Address of the client. */
  readonly client: string;
  /** Whom the proxy names. */
  readonly person?: string;
}

export interface Operated extends Sent {
  /** Name of the operator's token. */
  readonly who: string;
}

export type Command =
  | (Sent & { kind: "create"; link: NewLink; idempotencyKey?: string; token?: string })
  | (Sent & { kind: "batch"; links: readonly NewLink[]; idempotencyKey?: string; token?: string })
  | (Sent & { kind: "edit"; code: string; change: Terms; key: MakerKey; match: Match })
  | (Sent & { kind: "withdraw"; code: string; key: MakerKey; match: Match })
  /** Former values of a correction: the one at place `nth` on the page of `match`. */
  | (Sent & { kind: "bring-back"; code: string; key: MakerKey; match: Match; nth: number })
  | (Sent & {
      kind: "visit";
      code: string;
      method: "GET" | "HEAD";
      visitor: Visitor;
      password?: string;
      query?: string;
      /** The path after the code. */
      path?: string;
      /** The form that visit `again` sent is sent once more. */
      again?: number;
    })
  | (Sent & { kind: "report"; code: string; reason: Reason; note?: string })
  | (Sent & { kind: "read"; code: string; key: MakerKey })
  | (Sent & { kind: "preview"; code: string })
  | (Sent & { kind: "stats"; code: string; key: MakerKey })
  | (Sent & { kind: "available"; code: string })
  | (Operated & { kind: "view-link"; code: string })
  | (Operated & { kind: "view-cases" })
  | (Operated & { kind: "view-hosts" })
  | (Operated & { kind: "view-journal" })
  | (Operated & { kind: "search"; search: Search })
  | (Operated & { kind: "disable"; code: string; reason: Reason; match: Match })
  | (Operated & { kind: "enable"; code: string; match: Match })
  | (Operated & {
      kind: "correct";
      code: string;
      change: Pick<Terms, "target" | "ends" | "owner">;
      match: Match;
    })
  | (Operated & { kind: "erase"; code: string; match: Match })
  | (Operated & {
      kind: "answer";
      code: string;
      action: "disable" | "block-host" | "nothing" | "reopen";
      reason?: Reason;
      match: Match;
    })
  | (Operated & { kind: "block"; host: string; reason: Reason })
  | (Operated & { kind: "unblock"; host: string })
  /** `count`: the number that the operator has seen, of links created until then; `undefined`: only count. */
  | (Operated & { kind: "disable-found"; search: Search; reason: Reason; count?: number; untilMs?: number })
  | (Operated & { kind: "enable-found"; search: Search; count?: number; untilMs?: number })
  | (Operated & { kind: "hand-over-found"; search: Search; owner: string; count?: number; untilMs?: number })
  /** Undo of the decision that command `decision` made. */
  | (Operated & { kind: "undo"; decision: number })
  /** What `curt export` writes now is imported: into this store, or into an empty one that replaces it. */
  | (Sent & { kind: "move"; into: "empty" | "used" })
  | (Sent & { kind: "import"; links: readonly ImportedLink[]; visits: readonly ImportedVisits[] })
  | (Sent & { kind: "restart" })
  | (Sent & { kind: "tokens"; operators: readonly string[]; creators: readonly string[] });

/** A row of `links.csv`, or a link of an export: `disabled` is only possible there. */
export interface ImportedLink {
  readonly code: string;
  readonly target: string;
  readonly createdMs: number;
  readonly endsMs?: number;
  readonly visits?: number;
  readonly disabled?: Reason;
}

export interface ImportedVisits {
  readonly code: string;
  /** Unix ms of a midnight. */
  readonly dayMs: number;
  readonly visits: number;
}

// -------------------------------------------------------------------------------------------------------- answers

/**
 * An observed response, in the words of the JSON API: a form's 303 after a create is 201, its page with a problem has that
 * problem's status and reason, the page that asks for a password is 401 `password.missing`. Fields that a door doesn't
 * show are `undefined` and aren't compared.
 */
export interface Answer {
  readonly status: number;
  readonly reason?: string | undefined;
  readonly location?: string | undefined;
  /** The link after a create, a change, a read, an operator's view or decision. */
  readonly link?: LinkView | undefined;
  /** Results of a batch, and the links that a search found, newest first. */
  readonly results?: readonly Answer[] | undefined;
  readonly found?: readonly string[] | undefined;
  readonly replayed?: boolean | undefined;
  /** How many links or hosts a decision changed: `true` is 1. Without a `count`: how many it would. */
  readonly changed?: number | undefined;
  /** When the newest link that a search found was created. */
  readonly untilMs?: number | undefined;
  /** How many links an undo of many skipped, because a later decision stands; how many rows an import left out. */
  readonly skipped?: number | undefined;
  readonly available?: boolean | undefined;
  /** Whether it has the manage key. */
  readonly hasKey?: boolean | undefined;
  /** How many corrections a manage page can bring back. */
  readonly offered?: number | undefined;
  /** Whether the title of a link is anywhere in it. */
  readonly hasTitle?: boolean | undefined;
  readonly visits?: Visits | undefined;
  readonly cases?: readonly CaseView[] | undefined;
  readonly hosts?: readonly HostView[] | undefined;
  /** Newest first. */
  readonly journal?: readonly Entry[] | undefined;
}

type LinkState = "active" | "scheduled" | "expired" | "withdrawn" | "used_up" | "disabled" | "deleted";
export interface LinkView {
  readonly key: Key;
  /** `null`: hidden. */
  readonly target?: string | null | undefined;
  readonly createdMs?: number | undefined;
  readonly endsMs?: number | null | undefined;
  readonly startsMs?: number | null | undefined;
  readonly maxVisits?: number | null | undefined;
  readonly visitsUsed?: number | null | undefined;
  readonly hasPassword?: boolean | undefined;
  readonly forwardQuery?: boolean | undefined;
  readonly forwardPath?: boolean | undefined;
  readonly title?: string | null | undefined;
  /** The code as people see it. */
  readonly written?: string | undefined;
  readonly state?: LinkState | undefined;
  readonly disabledReason?: Reason | "deleted" | null | undefined;
  readonly changedMs?: number | null | undefined;
  readonly by?: string | null | undefined;
  readonly owner?: string | null | undefined;
}

export interface CaseView {
  readonly key: Key;
  readonly open?: boolean | undefined;
  readonly reports?: number | undefined;
  readonly pending?: number | undefined;
  readonly reasons?: Readonly<Partial<Record<Reason, number>>> | undefined;
  readonly answer?: CaseAnswer | null | undefined;
  readonly disabledByReports?: boolean | undefined;
}

export interface HostView {
  readonly host: string;
  readonly reason?: Reason | undefined;
}

/** The visits of a life of a link on a day (UTC). Lives differ in their creation. */
export interface Day extends Visits {
  readonly key: Key;
  readonly createdMs: number | undefined;
  /** Unix ms of its midnight; `null`: visits without a day. */
  readonly dayMs: number | null;
  /** Hour (0 to 23), people, bots; `undefined` if some came without an hour. */
  readonly hours: readonly (readonly [number, number, number])[] | undefined;
}

/**
 * The state that the service must show exactly once everything is settled. A key that starts with `?` is a generated code that no answer
 * has shown: its link is recognized by its target. Sorted by key, then by life; the journal is
 * newest first.
 */
export interface Settled {
  readonly links: readonly LinkView[];
  readonly days: readonly Day[];
  readonly cases: readonly CaseView[];
  readonly hosts: readonly HostView[];
  readonly journal: readonly Entry[];
  /** In order for each subject. */
  readonly events: readonly Event[];
  /** `curt_links`, without links of others: the service shows as many links as it counts. */
  readonly linkCount: number | undefined;
  /** Codes that had two lives or may be purged: not compared. */
  readonly left: ReadonlySet<string>;
}
