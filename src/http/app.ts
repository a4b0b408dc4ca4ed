import { Hono } from "hono";
import { cors } from "hono/cors";
import { etag } from "hono/etag";

import { answer } from "./answers.ts";
import type { Api } from "./api/api.ts";
import { operations } from "./api/operations.ts";
import type { Call, CallOf, Handler } from "./call.ts";
import type { Health } from "./health.ts";
import { assetRoutes } from "./pages/assets.ts";
import type { Home } from "./pages/home.ts";
import type { Qr } from "./pages/images.ts";
import type { Notices } from "./pages/notices.ts";
import { createReference } from "./pages/reference.ts";
import { type AddressProblem, problemAnswer, problemJson, problemOf } from "./problems.ts";
import type { Redirect } from "./redirect/redirect.ts";
import { pathOf, queryOf } from "./url.ts";

export interface AppOptions {
  readonly api: Api;
  readonly home: Home;
  readonly preview: Handler;
  readonly notices: Notices;
  readonly redirect: Redirect;
  readonly qr: Qr;
  readonly health: Health;
  readonly callOf: CallOf;
  readonly onFault: (error: unknown) => void;
}

/** A request as it reached the server: behind a HEAD, Hono sees a GET. */
interface Arrived {
  readonly request: Request;
  readonly server: Bun.Server<unknown>;
}

const CORS = {
  origin: "*",
  allowMethods: ["GET", "HEAD", "POST"],
  allowHeaders: ["Content-Type"],
  exposeHeaders: ["Location", "Retry-After", "Content-Language"],
  maxAge: 7200,
};

/** Every route: `redirect` for GET of /:code and /:code/, and `fetch` for the rest, the `fixedPaths` first. */
export function createApp(options: AppOptions) {
  const { api, home, preview, notices, redirect, qr, health, callOf, onFault } = options;
  const app = new Hono<{ Bindings: Arrived }>({ getPath: (request) => spelledOut(pathOf(request)) });
  const fixedPaths: string[] = [];

  const preflight = cors(CORS);
  app.options("/api/*", (context, next) =>
    context.req.header("access-control-request-method") === undefined ? next() : preflight(context, next),
  );
  // After the answer is made: set before it, they would cost a second Response.
  app.use("/api/*", async (context, next) => {
    await next();
    context.res.headers.set("Access-Control-Allow-Origin", CORS.origin);
    context.res.headers.set("Access-Control-Expose-Headers", CORS.exposeHeaders.join());
  });

  route("/", { GET: home.show, POST: home.make });
  route("/docs", { GET: createReference(api.describe) });
  route(operations.shorten.path, { GET: api.information, POST: api.shorten });
  route(templatePath(operations.availability.path), { GET: api.availability });
  route(templatePath(operations.link.path), { GET: api.link });
  route(templatePath(operations.statistics.path), { GET: api.statistics });
  route(operations.document.path, { GET: api.document });
  for (const [path, asset] of Object.entries(assetRoutes)) route(path, { GET: asset });
  route("/robots.txt", { GET: notices.robots });
  if (notices.security !== undefined) route("/.well-known/security.txt", { GET: notices.security });
  for (const end of ["", "/"]) app.use(`/:image{[^/+.]+\\.(?:svg|png)}${end}`, etag());
  route(templatePath(operations.qrSvg.path), { GET: qr.svg });
  route(templatePath(operations.qrPng.path), { GET: qr.png });
  route("/livez", { GET: health.live });
  route("/readyz", { GET: health.ready });
  route("/:code+", { GET: preview });
  // A + behind the short address as it is answered, with its slash.
  route("/:code/+", { GET: ({ code }) => moved(`/${encodeURIComponent(code)}+`) });
  // Comes here with GET: what no code can be, and an address that Bun has tidied up, such as /x/../code.
  route("/:code", { GET: notFound });
  app.notFound(({ env }) => notFound(arrived(env)));
  app.onError((error, { env }) => {
    onFault(error);
    return answerProblem(arrived(env), problemOf(error));
  });

  /**
   * A path with and without a slash at its end; a method that it does not take is answered 405. What sets a route
   * apart from a code, such as the .svg of /:code.svg, is no part of the code that its handlers get.
   */
  function route(path: string, handlers: Readonly<Record<string, Handler>>): void {
    const methods = Object.keys(handlers).flatMap((method) =>
      method === "GET" ? ["GET", "HEAD"] : [method],
    );
    const allow = [...methods, "OPTIONS"].join(", ");
    const [suffix = ""] = /(?<=:code)[+.].*/.exec(path) ?? [];
    const pattern = suffix === "" ? path : path.replace(suffix, `{[^/+.]+${RegExp.escape(suffix)}}`);
    const codeIn = (segment = "") => segment.slice(0, segment.length - suffix.length);
    for (const spelling of path === "/" ? [path] : [pattern, `${pattern}/`]) {
      for (const [method, handle] of Object.entries(handlers))
        app.on(method, spelling, ({ env, req }) => handle(arrived(env, codeIn(req.param("code")))));
      app.options(spelling, () => answer({ status: 204, headers: { Allow: allow } }));
      app.all(spelling, ({ env, req }) =>
        answerProblem(arrived(env), { kind: "method", method: req.method, allow }),
      );
      if (!spelling.includes(":")) fixedPaths.push(spelling);
    }
  }

  function arrived({ request, server }: Arrived, code = ""): Call {
    return callOf(request, server, code);
  }

  /** HEAD is answered as GET, length included; Bun leaves the body out (RFC 9110, section 9.3.2). */
  const fetch = (request: Request, server: Bun.Server<unknown>) =>
    app.fetch(request.method === "HEAD" ? asGet(request) : request, { request, server });
  return { redirect: redirect(fetch), fetch, fixedPaths };
}

/** OpenAPI's /links/{code} as Hono's /links/:code. */
function templatePath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}

/** A path with the + and . that set a route apart from a code, however they are written. */
function spelledOut(path: string): string {
  return path.replaceAll(/%2[be]/gi, decodeURIComponent);
}

function asGet(request: Request): Request {
  return new Request(`http://localhost${pathOf(request)}${queryOf(request)}`, { headers: request.headers });
}

function moved(path: string): Response {
  return answer({ status: 308, headers: { Location: path } });
}

function notFound(call: Call): Response {
  return answerProblem(call, { kind: "not-found" });
}

function answerProblem(call: Call, problem: AddressProblem): Response {
  return pathOf(call.request).startsWith("/api/") ? problemJson(call, problem) : problemAnswer(call, problem);
}
