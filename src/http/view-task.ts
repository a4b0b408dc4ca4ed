import type { Asked } from "./call.ts";
import type { Domain } from "./domain.ts";
import { askedLanguage } from "./page-language.ts";
import { prefersCsv } from "./responses.ts";
import { queryOf } from "./url.ts";

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
  | "qr"
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

export interface RenderedView {
  readonly status: number;
  /** The response headers, as JSON. */
  readonly headers: string;
  readonly body: Uint8Array;
}

/** `data` is the task's `data`. */
export type ViewHandler = (call: Asked, data: string) => Response | Promise<Response>;

/** Runs on the thread that makes views, and turns a task into its answer. Throws what the handler throws. */
export function createRenderer(domain: Domain, handlers: Readonly<Record<View, ViewHandler>>) {
  return async ({ view, code, query, headers, known, data }: ViewTask): Promise<RenderedView> => {
    const request = new Request(`${domain.origin}/${query}`, {
      headers: JSON.parse(headers) as Record<string, string>,
    });
    if (known !== "") request.headers.set("If-None-Match", known);
    const response = await handlers[view]({ request, headers: request.headers, code, domain }, data);
    return toMade(response);
  };
}

async function toMade(response: Response): Promise<RenderedView> {
  const body = await response.bytes();
  const { status, headers } = response;
  if (status === 200 && !headers.has("etag")) headers.set("ETag", `"${Bun.hash(body).toString(36)}"`);
  return { status, headers: JSON.stringify(Object.fromEntries(headers)), body };
}

const QR_PARAMETERS = ["size", "margin", "dark", "light", "ecc"];

/**
 * The parameters that views of a link read. Those are the views that many ask for, with whatever query their address got
 * on its way, so the other parameters get nobody a view of their own. Views that are not named here get the whole query.
 */
export const PARAMETERS: Partial<Record<View, readonly string[]>> = {
  preview: ["range", "by", "tz", "language"],
  interstitial: ["language"],
  manage: ["language"],
  link: [],
  statistics: ["from", "to", "interval", "tz", "format", "download"],
  svg: QR_PARAMETERS,
  png: QR_PARAMETERS,
  qr: [...QR_PARAMETERS, "language"],
};

/** All of a query that a view depends on, with its question mark. A language that we do not have is none. */
export function queryFor(view: View, request: Request): string {
  const query = queryOf(request);
  const read = PARAMETERS[view];
  const isCsv = view === "statistics" && prefersCsv(request.headers.get("accept"));
  if ((query === "" && !isCsv) || read === undefined) return query;
  const language = askedLanguage(request);
  const kept = [...new URLSearchParams(query)].filter(
    ([name, value]) => read.includes(name) && value !== "" && name !== "language",
  );
  if (read.includes("language") && language !== undefined) kept.push(["language", language]);
  // The headers of a view do not tell CSV from JSON.
  if (isCsv && !kept.some(([name]) => name === "format")) kept.push(["format", "csv"]);
  return kept.length === 0 ? "" : `?${new URLSearchParams(kept).toString()}`;
}
