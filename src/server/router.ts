import { Hono, type MiddlewareHandler } from "hono";

import { allowEveryOrigin, forEveryOrigin, preflight, REQUEST_ID, requestIdOf } from "../http/api-headers.ts";
import type { Call, CallOf, Handler } from "../http/call.ts";
import type { Limiter } from "../http/limiter.ts";
import { problemOf } from "../http/problems.ts";
import type { RequestFigures } from "../http/request-counts.ts";
import { answer } from "../http/responses.ts";
import { pathOf, queryOf } from "../http/url.ts";
import { header, MAX_PATH } from "../lib/bounds.ts";
import { answerProblem } from "../pages/problem/answer.ts";

export interface RouterOptions {
  readonly limiter: Pick<Limiter, "addHeaders">;
  readonly callOf: CallOf;
  readonly requests: RequestFigures;
  readonly onFault: (error: unknown, request?: string) => void;
  /** Whether scripts of every origin may use this path of the API. */
  readonly isOpen: (path: string) => boolean;
  /** Answers requests without a route. */
  readonly notFound: Handler;
}

interface RouteOptions {
  readonly middleware?: readonly MiddlewareHandler[];
  /** Whether another route takes POST at this address. */
  readonly takesPost?: (call: Call) => boolean | Promise<boolean>;
}

type Serve = (request: Request, server: Bun.Server<unknown>) => Promise<Response>;

/**
 * Calls the handler for a path and method, and adds to every response what all have in common: limits, CORS, a request id, a
 * count, and a problem if the handler throws. Paths are templates such as /{code}+.
 */
export function createRouter(options: RouterOptions) {
  const { limiter, callOf, requests, onFault, isOpen, notFound } = options;
  const app = new Hono<{ Bindings: IncomingRequest }>({
    getPath: (request) => readable(spelledOut(pathOf(request).slice(0, MAX_PATH))),
  });
  /** The paths without a code, which Bun matches natively. */
  const fixed: Record<string, Serve> = {};

  app.use("/api/*", ({ env, req }, next) => {
    env.id = requestIdOf(req.raw.headers);
    return next();
  });
  app.options("/api/*", (context, next) => {
    const isPreflight = context.req.header("access-control-request-method") !== undefined;
    return isPreflight && isOpen(context.req.path) ? preflight(context, next) : next();
  });
  app.use("/api/*", (context, next) => (isOpen(context.req.path) ? forEveryOrigin(context, next) : next()));
  app.notFound(async ({ env }) => {
    const call = callFor(env);
    return limiter.addHeaders(call, await notFound(call));
  });
  app.onError((error, { env }) => fault(callFor(env), error, env.id));

  /** Adds a path, with and without a trailing slash. Answers OPTIONS, and 405 for other methods. */
  function route(
    path: string,
    handlers: Readonly<Record<string, Handler>>,
    { middleware = [], takesPost = () => false }: RouteOptions = {},
  ): void {
    serve(path, handlers, ...middleware);
    const methods = Object.keys(handlers).flatMap((method) =>
      method === "GET" ? ["GET", "HEAD"] : [method],
    );
    const { patterns, codeIn } = readRoute(path);
    for (const pattern of patterns) {
      app.all(pattern, async ({ env, req }) => {
        const { method } = req;
        env.route = path;
        const call = callFor(env, codeIn(req.param("code")));
        const post = method !== "POST" && (await takesPost(call)) ? ["POST"] : [];
        const allow = [...methods, ...post, "OPTIONS"].join(", ");
        return method === "OPTIONS"
          ? answer({ status: 204, headers: { Allow: allow } })
          : answerProblem(call, { kind: "method", method, allow });
      });
    }
  }

  /** Adds these methods of a path. All other methods fall through to later routes. */
  function serve(
    path: string,
    handlers: Readonly<Record<string, Handler>>,
    ...middleware: MiddlewareHandler[]
  ): void {
    const { patterns, codeIn, isFixed } = readRoute(path);
    for (const pattern of patterns) {
      for (const [method, handle] of Object.entries(handlers))
        app.on(method, [pattern], ...middleware, async ({ env, req }) => {
          env.route = path;
          const call = callFor(env, codeIn(req.param("code")));
          return limiter.addHeaders(call, await handle(call));
        });
      if (isFixed) fixed[pattern] = direct(path, handlers);
    }
  }

  /** Adds a handler for POST. If it returns undefined, the request falls through to later routes. */
  function receive(path: string, handle: (call: Call) => Promise<Response | undefined>): void {
    const { patterns, codeIn } = readRoute(path);
    for (const pattern of patterns)
      app.post(pattern, async ({ env, req }, next) => {
        env.route = path;
        const call = callFor(env, codeIn(req.param("code")));
        const response = await handle(call);
        return response === undefined ? next() : limiter.addHeaders(call, response);
      });
  }

  /**
   * Does for these methods what Hono would do, which took a fifth of a create's time on this thread. Paths without a code have
   * no middleware of their own.
   */
  function direct(path: string, handlers: Readonly<Record<string, Handler>>): Serve {
    const isOfApi = path.startsWith("/api/");
    const isForEveryOrigin = isOfApi && isOpen(path);
    return async (request, server) => {
      const handle = handlers[request.method];
      if (handle === undefined) return fetch(request, server);
      const startMs = performance.now();
      const id = isOfApi ? requestIdOf(request.headers) : undefined;
      const call = callOf(request, server, "");
      let response: Response;
      try {
        response = limiter.addHeaders(call, await handle(call));
      } catch (error) {
        response = fault(call, error, id);
      }
      if (isForEveryOrigin) allowEveryOrigin(response);
      return finish({ request, server, route: path, id }, response, startMs);
    };
  }

  function fault(call: Call, error: unknown, id: string | undefined): Response {
    onFault(error, id);
    return answerProblem(call, problemOf(error));
  }

  function callFor({ request, server }: IncomingRequest, code = ""): Call {
    return callOf(request, server, code);
  }

  /** HEAD is answered as GET, length included; Bun leaves the body out (RFC 9110, section 9.3.2). */
  async function fetch(request: Request, server: Bun.Server<unknown>): Promise<Response> {
    const startMs = performance.now();
    const incoming: IncomingRequest = { request, server };
    const response = await app.fetch(request.method === "HEAD" ? asGet(request) : request, incoming);
    return finish(incoming, response, startMs);
  }

  /** Completes every response that is not a redirect. */
  function finish(
    { request, route: path = "other", id }: IncomingRequest,
    response: Response,
    startMs: number,
  ) {
    if (id !== undefined) response.headers.set(REQUEST_ID, id);
    requests.observe(
      path.startsWith("/.assets/") ? "/.assets/" : path,
      request.method,
      response.status,
      startMs,
    );
    return closedIfUnread(request, response);
  }

  return { route, serve, receive, fetch, fixed };
}

/** A request as it reached the server. Hono sees a HEAD as a GET. */
interface IncomingRequest {
  readonly request: Request;
  readonly server: Bun.Server<unknown>;
  /** The template of the matching route. */
  route?: string | undefined;
  /** Only for requests to the API. */
  id?: string | undefined;
}

/** In bytes. Reading and discarding more than this isn't worth keeping the connection. */
const MAX_UNREAD_BYTES = 1024 * 1024;

function asGet(request: Request): Request {
  return new Request(`http://localhost${pathOf(request)}${queryOf(request)}`, { headers: request.headers });
}

/** Closes the connection after an error if the unread rest of the body may be long. */
function closedIfUnread({ headers }: Request, response: Response): Response {
  const mayBeLong = () =>
    headers.has("transfer-encoding") || Number(header(headers, "content-length")) > MAX_UNREAD_BYTES;
  if (response.status >= 400 && mayBeLong()) response.headers.set("Connection", "close");
  return response;
}

interface Route {
  /** In Hono's syntax, without and with a trailing slash. */
  readonly patterns: readonly string[];
  /** Takes the code out of what `:code` matched, which includes any suffix such as `.svg`. */
  codeIn(segment: string | undefined): string;
  /** True if the path has no code, so that it is a single address. */
  readonly isFixed: boolean;
}

const CODE = /\{(?:code|host)\}([^/]*)/;

/**
 * Reads a route in OpenAPI's syntax, such as /api/v1/links/{code}, /{code}.svg or /{code}+. A suffix after the code
 * starts with + or a dot, which no code contains. A {host} is read as a code.
 */
export function readRoute(path: string): Route {
  const code = CODE.exec(path);
  const suffix = code?.[1] ?? "";
  const parameter = suffix === "" ? ":code" : `:code{[^/+.]+${RegExp.escape(suffix)}}`;
  const pattern = path.replace(CODE, () => parameter);
  return {
    patterns: path === "/" ? [path] : [pattern, `${pattern}/`],
    codeIn: (segment = "") => segment.slice(0, segment.length - suffix.length),
    isFixed: code === null,
  };
}

/** Hono would decode an ill-formed path piece by piece, at a microsecond each. */
function readable(path: string): string {
  try {
    decodeURIComponent(path);
    return path;
  } catch {
    return path.replaceAll("%", "%25");
  }
}

/** Decodes %2B and %2E in a path, so that /abc%2B is routed like /abc+. */
export function spelledOut(path: string): string {
  return path.replaceAll(/%2[be]/gi, decodeURIComponent);
}
