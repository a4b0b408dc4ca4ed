import { header } from "../lib/bounds.ts";
import type { DetachedCall } from "./call.ts";
import type { Domain } from "./domain.ts";
import { urlLanguage } from "./page-language.ts";
import { prefersCsv } from "./responses.ts";
import { parametersOf, queryOf } from "./url.ts";

/** The pages, images and documents that the views thread renders. */
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
  /** The operator's views. `data` names one. The serving thread checks the operator's token before it sends them. */
  | "adminApi"
  | "adminPage";

/** A request to the views thread. A flat object, because Bun doesn't copy its strings. */
export interface ViewTask {
  readonly view: View;
  /** The prefix of the domain, see `Domain`. */
  readonly keyPrefix: string;
  /** As spelled in the path. "" without a code. */
  readonly code: string;
  /** With its question mark. "" without a query. */
  readonly query: string;
  /** The request headers that views depend on, as JSON, each in one of a few forms. */
  readonly headers: string;
  /** `If-None-Match`: a view with this tag isn't rendered. "" without the header. */
  readonly knownTag: string;
  /** Other input of the view, as JSON, or "". */
  readonly data: string;
  readonly nowMs: number;
  /** Version of the serving thread's host rules. After a change, the views thread reads them before the next look-up. */
  readonly rulesVersion: number;
}

export interface RenderedView {
  readonly status: number;
  /** The response headers, as JSON. */
  readonly headers: string;
  readonly body: Uint8Array;
}

/** The calls of the views thread that {@link createRenderer} serves. */
export interface RenderCalls {
  render(task: ViewTask): RenderedView | Promise<RenderedView>;
}

/** `data` is the task's `data`. */
export type ViewHandler = (call: DetachedCall, data: string) => Response | Promise<Response>;

/** Views at addresses of our own API. */
const API_VIEWS: ReadonlySet<View> = new Set(["link", "statistics", "adminApi"]);

/** Renders tasks on the views thread. Rethrows exceptions of handlers. */
export function createRenderer(domain: Domain, handlers: Readonly<Record<View, ViewHandler>>) {
  return async ({ view, code, query, headers, knownTag, data }: ViewTask): Promise<RenderedView> => {
    // Problems of the API list their errors, which depends on the path.
    const path = API_VIEWS.has(view) ? "/api/v1/links" : "/";
    const request = new Request(`${domain.origin}${path}${query}`, {
      headers: JSON.parse(headers) as Record<string, string>,
    });
    if (knownTag !== "") request.headers.set("If-None-Match", knownTag);
    const response = await handlers[view]({ request, headers: request.headers, code, domain }, data);
    return toRenderedView(response);
  };
}

async function toRenderedView(response: Response): Promise<RenderedView> {
  const body = await response.bytes();
  const { status, headers } = response;
  if (status === 200 && !headers.has("etag")) headers.set("ETag", `"${Bun.hash(body).toString(36)}"`);
  return { status, headers: JSON.stringify(Object.fromEntries(headers)), body };
}

const QR_PARAMETERS = ["size", "margin", "dark", "light", "ecc"];

/**
 * The query parameters of views that many readers share. Other parameters, which addresses collect on their way, must not
 * create views of their own. Views without an entry get the whole query.
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

/** The part of a query that a view depends on, with its question mark. Drops unknown languages. */
export function queryFor(view: View, request: Request): string {
  const query = queryOf(request);
  const names = PARAMETERS[view];
  const isCsv = view === "statistics" && prefersCsv(header(request.headers, "accept"));
  if ((query === "" && !isCsv) || names === undefined) return query;
  const language = urlLanguage(request);
  const parameters = [...parametersOf(request)].filter(
    ([name, value]) => names.includes(name) && value !== "" && name !== "language",
  );
  if (names.includes("language") && language !== undefined) parameters.push(["language", language]);
  // The headers of a task don't distinguish CSV from JSON.
  if (isCsv && !parameters.some(([name]) => name === "format")) parameters.push(["format", "csv"]);
  return parameters.length === 0 ? "" : `?${new URLSearchParams(parameters).toString()}`;
}
