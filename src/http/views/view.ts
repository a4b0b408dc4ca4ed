// The messages between the serving thread and the one that makes views.

/** The pages, images and documents that a separate thread makes. */
export type View =
  | "home"
  | "refusedForm"
  | "reference"
  | "privacy"
  | "myLinks"
  | "information"
  | "link"
  | "statistics"
  | "document"
  | "svg"
  | "png"
  | "preview"
  | "reportAny"
  | "report"
  | "refusedReport"
  | "reported"
  | "interstitial"
  | "manage"
  /** The operator's; `data` says which, and what it needs. They are sent only once the operator's token was checked. */
  | "adminApi"
  | "adminPage";

/** A flat object, because Bun passes its strings to another thread without copying them. */
export interface ViewTask {
  readonly view: View;
  /** The code as the path spells it, "" where the path has none. */
  readonly code: string;
  /** With its question mark; empty where there is none. */
  readonly query: string;
  /** The request headers that a view depends on, as JSON. Each is reduced to one of a few forms. */
  readonly headers: string;
  /** `If-None-Match`: a view with this tag need not be made. "" if there is none. */
  readonly known: string;
  /** Other input of the view, as JSON, or "". */
  readonly data: string;
  readonly nowMs: number;
  /** Which rules about hosts the serving thread has. If this changes, they are read anew before a link is looked up. */
  readonly rulesVersion: number;
}

export interface MadeView {
  readonly status: number;
  /** The response headers, as JSON. */
  readonly headers: string;
  readonly body: Uint8Array;
}
