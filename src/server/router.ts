import { allowOrigin, answerPreflight, REQUEST_ID, requestIdOf } from "../http/api-headers.ts";
import type { Call, CallOf, Handler } from "../http/call.ts";
import { isFromAnotherSite } from "../http/credentials.ts";
import type { AddLimitHeaders } from "../http/limits/rate-limit-headers.ts";
import type { AdmitOrigin } from "../http/origins.ts";
import { asProblem, problemJson } from "../http/problems.ts";
import type { RequestFigures } from "../http/request-counts.ts";
import { answer } from "../http/responses.ts";
import { pathOf } from "../http/url.ts";
import { header, MAX_PATH } from "../lib/bounds.ts";
import { answerProblem } from "../pages/problem/answer.ts";

/** Answers one method of a path. */
export interface Route {
  /** The method, and the path in OpenAPI's syntax, such as "GET /api/v1/links/{code}". */
  readonly at: string;
  /** Returns undefined if the method isn't allowed for the code. */
  readonly handle: (call: Call) => Response | undefined | Promise<Response | undefined>;
  /** Scripts of other origins may read the response. */
  readonly forEveryOrigin?: boolean | undefined;
  /** Whether the method is allowed for the code, for `Allow`. Default: for all codes. */
  readonly accepts?: (call: Call) => Promise<boolean>;
}

export interface RouterOptions {
  /** Routes that are needed before the others are loaded, and that depend on no client. */
  readonly first: readonly Route[];
  /** Loads the other routes. If it rejects, the next request tries again. */
  readonly load: () => Promise<readonly Route[]>;
  /** The start of the API's paths that no scripts of other origins may use. */
  readonly closed: string | undefined;
  readonly admitOrigin: AdmitOrigin;
  /** Answers requests without a route. */
  readonly notFound: Handler;
  readonly addLimitHeaders: AddLimitHeaders;
  readonly callOf: CallOf;
  readonly requests: RequestFigures;
  readonly onFault: (error: unknown, request?: string) => void;
}

export type Fetch = (request: Request, server: Bun.Server<unknown>) => Promise<Response>;

/** A path with all its methods. */
interface Path {
  readonly template: string;
  readonly methods: Map<string, Route>;
}

interface Match {
  readonly path: Path;
  readonly code: string;
}

const CHANGING: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH", "DELETE"]);
const OF_API = /^\/api(?:\/|$)/;
/** Their addresses change with their contents. */
const ASSETS = "/.assets/";
/** In bytes. Reading and discarding more than this isn't worth keeping the connection. */
const MAX_UNREAD_BYTES = 1024 * 1024;

/**
 * Returns a function that answers every request but redirects. It finds the route, and adds what all responses have in common:
 * limits, CORS, a request id, a count, and a problem if the handler throws. Answers OPTIONS, and 405 for other methods.
 */
export function createRouter(options: RouterOptions): Fetch {
  const { load, closed, admitOrigin, notFound, addLimitHeaders, callOf, requests, onFault } = options;
  const first = new Set<Route | undefined>(options.first);
  let paths = createPaths(options.first);
  let isLoaded = false;

  async function loadRest(): Promise<void> {
    const routes = await load();
    if (!isLoaded) paths = createPaths([...options.first, ...routes]);
    isLoaded = true;
  }

  async function refuseMethod(call: Call, matches: readonly Match[], method: string): Promise<Response> {
    const allow = await allowed(call, matches, method);
    return method === "OPTIONS"
      ? answer({ status: 204, headers: { Allow: allow } })
      : answerProblem(call, { kind: "method", method, allow });
  }

  return async (request, server) => {
    const startMs = performance.now();
    const method = request.method === "HEAD" ? "GET" : request.method;
    const path = routedPath(request);
    const id = OF_API.test(path) ? requestIdOf(request.headers) : undefined;
    const isOfApi = id !== undefined && (closed === undefined || !path.startsWith(closed));
    const call = callOf(request, server, "");
    let origin = isOfApi ? admitOrigin(call) : undefined;
    const isRefused = isOfApi && origin === undefined && CHANGING.has(method) && isFromAnotherSite(call);
    let template = "other";
    let response = origin === undefined ? undefined : answerPreflight(request);
    try {
      if (response === undefined) {
        let matches = paths(path, method);
        if (!first.has(matches[0]?.path.methods.get(method))) {
          // Not for health checks: they come without X-Forwarded-For, and would look like requests of a proxy that doesn't append to it.
          call.client();
          if (!isLoaded) {
            await loadRest();
            matches = paths(path, method);
          }
        }
        template = matches[0]?.path.template ?? template;
        if (matches[0]?.path.methods.get(method)?.forEveryOrigin === true) origin ??= admitOrigin(call);
        const [match] = matches;
        const own = match === undefined || match.code === "" ? call : call.at(call.domain, match.code);
        const handle = match === undefined ? notFound : match.path.methods.get(method)?.handle;
        // Browsers send a text/plain body without a preflight, so refuse it before the handler acts.
        const handled = isRefused ? problemJson(own, { kind: "cross-site" }) : await handle?.(own);
        if (handled === undefined) response = await refuseMethod(own, matches, method);
        else response = own.limits.length === 0 ? handled : addLimitHeaders(own, handled);
      }
    } catch (error) {
      onFault(error, id);
      response = answerProblem(call, asProblem(error));
    }
    if (origin !== undefined) allowOrigin(response, origin);
    if (id !== undefined) response.headers.set(REQUEST_ID, id);
    if (template.startsWith(ASSETS)) template = ASSETS;
    requests.observe(template, request.method, response.status, startMs);
    return closedIfUnread(request, response);
  };
}

/** In the order of `Allow`. */
const ALLOWED = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** The value of `Allow`. `refused` is a method whose route took no request for this code. */
async function allowed(call: Call, matches: readonly Match[], refused: string): Promise<string> {
  const methods = new Set(["OPTIONS"]);
  for (const { path } of matches)
    for (const [method, { accepts }] of path.methods)
      if (accepts === undefined || (method !== refused && (await accepts(call)))) methods.add(method);
  return ALLOWED.filter((method) => methods.has(method === "HEAD" ? "GET" : method)).join(", ");
}

/** Closes the connection after an error if the unread rest of the body may be long. */
function closedIfUnread({ headers }: Request, response: Response): Response {
  const mayBeLong = () =>
    headers.has("transfer-encoding") || Number(header(headers, "content-length")) > MAX_UNREAD_BYTES;
  if (response.status >= 400 && mayBeLong()) response.headers.set("Connection", "close");
  return response;
}

/** A path with a code between its segments. The code ends before the suffix. */
interface Pattern extends Path {
  readonly before: string;
  readonly suffix: string;
  readonly after: string;
}

const CODE = /^(.*)\{(?:code|host|id)\}([^/]*)(.*)$/;
/** Matches only paths that no other template matches. */
const SHORT_ADDRESS = "/{code}";

/**
 * Returns a function that finds the paths of a request, with or without a slash at the end. If any of them has the method,
 * the first one does. A suffix after the code starts with + or a dot, which no code before it contains. A {host} or {id} is read as a code.
 * @internal
 */
export function createPaths(routes: readonly Route[]) {
  const fixed = new Map<string, Path>();
  const patterns: Pattern[] = [];
  let shortAddress: Pattern | undefined;

  function pathFor(template: string): Path {
    const known =
      fixed.get(template) ?? [...patterns, shortAddress].find((one) => one?.template === template);
    if (known !== undefined) return known;
    const [, before = "", suffix = "", after = ""] = CODE.exec(template) ?? [];
    const path = { template, methods: new Map<string, Route>(), before, suffix, after };
    if (template === SHORT_ADDRESS) shortAddress = path;
    else if (CODE.test(template)) patterns.push(path);
    else fixed.set(template, path);
    return path;
  }

  for (const route of routes) {
    const [method = "", template = ""] = route.at.split(" ");
    pathFor(template).methods.set(method, route);
  }

  return (written: string, method: string): readonly Match[] => {
    const path = written.length > 2 && written.endsWith("/") ? written.slice(0, -1) : written;
    const exact = fixed.get(path);
    if (exact?.methods.has(method) === true) return [{ path: exact, code: "" }];
    const matches: Match[] = exact === undefined ? [] : [{ path: exact, code: "" }];
    for (const pattern of patterns) {
      const code = codeIn(path, pattern);
      if (code === undefined) continue;
      if (pattern.methods.has(method)) matches.unshift({ path: pattern, code });
      else matches.push({ path: pattern, code });
    }
    const code = shortAddress && matches.length === 0 ? codeIn(path, shortAddress) : undefined;
    return shortAddress === undefined || code === undefined ? matches : [{ path: shortAddress, code }];
  };
}

function codeIn(path: string, { before, suffix, after }: Pattern): string | undefined {
  if (!path.startsWith(before) || !path.endsWith(suffix + after)) return undefined;
  const code = path.slice(before.length, path.length - suffix.length - after.length);
  const isWhole = code !== "" && !code.includes("/") && (suffix === "" || !/[+.]/.test(code));
  return isWhole ? decodeURIComponent(code) : undefined;
}

/** The path with + and dots decoded, so that /abc%2B is routed like /abc+. Codes in it can be decoded even if it is ill-formed. */
function routedPath(request: Request): string {
  const path = pathOf(request).slice(0, MAX_PATH);
  if (!path.includes("%")) return path;
  const spelledOut = path.replaceAll(/%2[be]/gi, decodeURIComponent);
  try {
    decodeURIComponent(spelledOut);
    return spelledOut;
  } catch {
    return spelledOut.replaceAll("%", "%25");
  }
}
