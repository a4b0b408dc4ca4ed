// The terms of a link: everything that its maker chooses besides its destination and its code. Most code knows only the five
// kinds of terms. Code with words lists the terms by name, so a new line here doesn't compile without its words; pages find those
// of a flag or a text by its name in the catalogues. The rules about two terms, and about visits, are elsewhere.
import type { Duration } from "../time.ts";

/** Each kind, as JSON sends it, as a request wants it, as it is stored, and as JSON shows it. */
export interface Kinds {
  /** An instant (Unix ms), or a duration from the request on. */
  readonly when: { sent: string; wanted: Duration | number; stored: number; json: string | null };
  readonly count: { sent: number; wanted: number; stored: number; json: number | null };
  /** Only its hash is stored, and JSON says whether there is one. */
  readonly secret: { sent: string; wanted: string; stored: string; json: boolean };
  /** False is the same as absent. */
  readonly flag: { sent: boolean; wanted: boolean; stored: true; json: boolean };
  /** A line, without white space around it. */
  readonly text: { sent: string; wanted: string; stored: string; json: string | null };
}
export type Kind = keyof Kinds;

export interface Bounds {
  readonly min: number;
  readonly max: number;
}

/** From the most to the fewest. Colleagues are the maker, operators, and people whom the proxy names. */
const VIEWERS = ["everybody", "colleagues", "maker"] as const;
export type Viewer = (typeof VIEWERS)[number];

/** `stored` is its name in {@link Terms}, and `none` the word for null where people write. */
type Term = { readonly stored: string; readonly sees: Viewer } & (
  | { readonly kind: "when"; readonly none: string }
  | { readonly kind: "count"; readonly none: string; readonly bounds: Bounds }
  | { readonly kind: "secret"; readonly bounds: Bounds }
  | { readonly kind: "flag" }
  | { readonly kind: "text"; readonly bounds: Bounds }
);

/**
 * In the order of responses, export files and forms. `lib/bounds.ts` says how long each may be as sent. Everybody sees that there is
 * a password.
 */
export const TERMS = {
  /** Every link has an end, in a column of its own. */
  expires_at: { kind: "when", stored: "endsMs", sees: "everybody", none: "never" },
  starts_at: { kind: "when", stored: "startsMs", sees: "everybody", none: "now" },
  max_visits: {
    kind: "count",
    stored: "maxVisits",
    sees: "everybody",
    none: "unlimited",
    bounds: { min: 1, max: 1_000_000_000 },
  },
  password: { kind: "secret", stored: "passwordHash", sees: "everybody", bounds: { min: 1, max: 128 } },
  forward_query: { kind: "flag", stored: "forwardQuery", sees: "everybody" },
  forward_path: { kind: "flag", stored: "forwardPath", sees: "everybody" },
  /** The link's purpose. */
  title: { kind: "text", stored: "title", sees: "colleagues", bounds: { min: 1, max: 200 } },
} as const satisfies Readonly<Record<string, Term>>;

export type TermName = keyof typeof TERMS;
export type KindOf<Name extends TermName> = (typeof TERMS)[Name]["kind"];
/** The terms of a kind. */
export type NameOf<K extends Kind> = { [N in TermName]: KindOf<N> extends K ? N : never }[TermName];
export const TERM_NAMES = Object.keys(TERMS) as readonly TermName[];
/** The terms whose values aren't secret. */
export type OpenName = Exclude<TermName, NameOf<"secret">>;

export const OPEN_NAMES = TERM_NAMES.filter((name): name is OpenName => !isOfKind(name, "secret"));

export function isOfKind<K extends Kind>(name: TermName, ...kinds: readonly K[]): name is NameOf<K> {
  return kinds.some((kind) => kind === TERMS[name].kind);
}

/** The terms that not everybody sees. */
export type PrivateName = {
  [N in TermName]: (typeof TERMS)[N]["sees"] extends "everybody" ? never : N;
}[TermName];

export function isSeenBy(name: TermName, viewer: Viewer): boolean {
  return VIEWERS.indexOf(TERMS[name].sees) <= VIEWERS.indexOf(viewer);
}

/** As JSON sends them. */
export type SentTerms = { readonly [N in TermName]?: Kinds[KindOf<N>]["sent"] | null | undefined };

/**
 * As a request wants them. Null: none, which is now for a start and never for an end. Undefined: the default in a new link, no
 * change in another.
 */
export type WantedTerms = { readonly [N in TermName]?: Kinds[KindOf<N>]["wanted"] | null | undefined };

/** As they are stored. */
export type StoredTerms = {
  readonly [N in TermName as (typeof TERMS)[N]["stored"]]?: Kinds[KindOf<N>]["stored"] | undefined;
};

/** How stored terms change. Null removes one. */
export type TermChanges = { readonly [S in keyof StoredTerms]?: StoredTerms[S] | null };

/** While its properties are set one by one. The compiler accepts a missing one, so a test tries every term in every door. */
export type Building<T> = { -readonly [P in keyof T]?: T[P] };

/** As JSON shows them. Without those that its reader doesn't see. */
export type TermFields = {
  readonly [N in Exclude<TermName, PrivateName> as ShownName<N>]: Kinds[KindOf<N>]["json"];
} & { readonly [N in PrivateName as ShownName<N>]?: Kinds[KindOf<N>]["json"] };
export type ShownName<N extends TermName = TermName> = N extends NameOf<"secret"> ? `has_${N}` : N;

export function shownName<N extends TermName>(name: N): ShownName<N> {
  return (TERMS[name].kind === "secret" ? `has_${name}` : name) as ShownName<N>;
}
