// What passes between the thread that serves and the one that makes what is dearer than a redirect.

/** The pages, images and documents that are made on a thread of their own. */
export type View =
  | "home"
  | "refusedForm"
  | "reference"
  | "information"
  | "link"
  | "statistics"
  | "document"
  | "svg"
  | "png"
  | "preview";

/** Flat, because Bun hands a flat object to another thread without copying its strings. */
export interface ViewTask {
  readonly view: View;
  /** The code as the path spells it, "" where the path has none. */
  readonly code: string;
  /** With its question mark; empty where there is none. */
  readonly query: string;
  /** Headers of the request, as JSON: those that a view depends on, each in one of a few forms. */
  readonly headers: string;
  /** What the view is made of beside the request, as JSON, or "". */
  readonly data: string;
  readonly nowMs: number;
}

export interface MadeView {
  readonly status: number;
  /** Of the answer, as JSON. */
  readonly headers: string;
  readonly body: Uint8Array;
}
