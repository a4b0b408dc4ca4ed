import type { DetachedCall } from "../http/call.ts";
import type { Domain } from "../http/domain.ts";
import { addressPath, type View } from "../http/endpoint.ts";
import { urlLanguage } from "../http/page-language.ts";
import { prefersCsv } from "../http/responses.ts";
import { parametersOf, queryOf } from "../http/url.ts";
import { header } from "../lib/bounds.ts";

/** A request to the views thread. A flat object, because Bun doesn't copy its strings. */
export interface ViewTask {
  /** The address of the view's endpoint. */
  readonly at: string;
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
  /** The data that the endpoint's `serve` adds to the request. */
  readonly data: unknown;
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

/** A read whose result the serving thread needs as a value. */
interface ReadTask {
  readonly name: string;
  readonly input: unknown;
  readonly nowMs: number;
  readonly rulesVersion: number;
}

/** The calls of the views thread. */
export interface ViewCalls {
  render(task: ViewTask): RenderedView | Promise<RenderedView>;
  read(task: ReadTask): unknown;
  /** Closes the store. Called last. */
  close(task: object): Promise<void>;
}

/** Renders a task on the views thread. Rethrows exceptions of the view. */
export async function render(
  { at, code, query, headers, knownTag, data }: ViewTask,
  domain: Domain,
  view: (call: DetachedCall, data: never) => Response | Promise<Response>,
): Promise<RenderedView> {
  // Problems of the API list their errors, which depends on the path.
  const path = addressPath(at);
  const request = new Request(domain.origin + encodeURI(path) + query, {
    headers: JSON.parse(headers) as Record<string, string>,
  });
  if (knownTag !== "") request.headers.set("If-None-Match", knownTag);
  const call: DetachedCall = { request, headers: request.headers, code, domain };
  const response = await view(call, data as never);
  const body = await response.bytes();
  if (response.status === 200 && !response.headers.has("etag"))
    response.headers.set("ETag", `"${Bun.hash(body).toString(36)}"`);
  return { status: response.status, headers: JSON.stringify(Object.fromEntries(response.headers)), body };
}

/** The part of a query that a view depends on, with its question mark. Drops unknown languages. */
export function queryFor(
  { parameters: names, hasCsv = false }: Pick<View<never, never>, "parameters" | "hasCsv">,
  request: Request,
): string {
  const query = queryOf(request);
  const isCsv = hasCsv && prefersCsv(header(request.headers, "accept"));
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
