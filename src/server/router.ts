import { Hono, type MiddlewareHandler } from "hono";

import type { Call, CallOf, Handler } from "../http/call.ts";
import type { Limiter } from "../http/limiter.ts";
import { answerProblem, problemOf } from "../http/problems.ts";
import { REQUEST_ID, requestIdOf } from "../http/request-id.ts";
import { answer } from "../http/responses.ts";
import { pathOf } from "../http/url.ts";
import { allowEveryOrigin, forEveryOrigin, preflight } from "./cors.ts";
import { type Arrived, asGet, closedIfUnread } from "./incoming-request.ts";
import { readRoute, spelledOut } from "./path-pattern.ts";
import type { RequestFigures } from "./request-counts.ts";

export interface RouterOptions {
  readonly limiter: Pick<Limiter, "tell">;
  readonly callOf: CallOf;
  readonly requests: RequestFigures;
  readonly onFault: (error: unknown, request?: string) => void;
  /** Whether scripts of every origin may use this path of the API. */
  readonly isOpen: (path: string) => boolean;
  /** Answers what no route takes. */
  readonly notFound: Handler;
}

interface RouteOptions {
  readonly middleware?: readonly MiddlewareHandler[];
  /** Whether an address takes POST, too, by another route. */
  readonly takesPost?: (call: Call) => boolean | Promise<boolean>;
}

/** What the server calls. */
type Serve = (request: Request, server: Bun.Server<unknown>) => Promise<Response>;

/**
 * Leads each request to the handler of its path and method, and gives every answer what all have in common: limits,
 * CORS, a request id, a count, and a problem where a handler throws. Paths are templates such as /{code}+.
 */
export function createRouter(options: RouterOptions) {
  const { limiter, callOf, requests, onFault, isOpen, notFound } = options;
  const app = new Hono<{ Bindings: Arrived }>({ getPath: (request) => spelledOut(pathOf(request)) });
  /** The paths without a code, which the server finds by itself. */
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
    const call = arrived(env);
    return limiter.tell(call, await notFound(call));
  });
  app.onError((error, { env }) => fault(arrived(env), error, env.id));

  /** A path, with and without a slash at its end. OPTIONS is answered, and 405 to methods that it does not take. */
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
        const call = arrived(env, codeIn(req.param("code")));
        const post = method !== "POST" && (await takesPost(call)) ? ["POST"] : [];
        const allow = [...methods, ...post, "OPTIONS"].join(", ");
        return method === "OPTIONS"
          ? answer({ status: 204, headers: { Allow: allow } })
          : answerProblem(call, { kind: "method", method, allow });
      });
    }
  }

  /** Leaves all other methods to the routes that follow. */
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
          const call = arrived(env, codeIn(req.param("code")));
          return limiter.tell(call, await handle(call));
        });
      if (isFixed) fixed[pattern] = direct(path, handlers);
    }
  }

  /** Takes a POST, unless the answer is undefined: that leaves it to the routes that follow. */
  function receive(path: string, handle: (call: Call) => Promise<Response | undefined>): void {
    const { patterns, codeIn } = readRoute(path);
    for (const pattern of patterns)
      app.post(pattern, async ({ env, req }, next) => {
        env.route = path;
        const call = arrived(env, codeIn(req.param("code")));
        const response = await handle(call);
        return response === undefined ? next() : limiter.tell(call, response);
      });
  }

  /**
   * Does for these methods what Hono would do, which was a fifth of what a create took on this thread. Paths without a code
   * have no middleware of their own.
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
        response = limiter.tell(call, await handle(call));
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

  function arrived({ request, server }: Arrived, code = ""): Call {
    return callOf(request, server, code);
  }

  /** HEAD is answered as GET, length included; Bun leaves the body out (RFC 9110, section 9.3.2). */
  async function fetch(request: Request, server: Bun.Server<unknown>): Promise<Response> {
    const startMs = performance.now();
    const arriving: Arrived = { request, server };
    const response = await app.fetch(request.method === "HEAD" ? asGet(request) : request, arriving);
    return finish(arriving, response, startMs);
  }

  /** What every answer gets that is no redirect. */
  function finish({ request, route: path = "other", id }: Arrived, response: Response, startMs: number) {
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
