// The endpoints of routes.ts, with their parts. A start doesn't need them, so they are loaded a second later.
import type { Config } from "../config/config.ts";
import type { Handler } from "../http/call.ts";
import { createCreatorCheck, createOperatorCheck } from "../http/credentials.ts";
import type { Cost, Endpoint, LimitedHandler } from "../http/endpoint.ts";
import type { Limiter } from "../http/limits/limiter.ts";
import type { RequestClass } from "../http/limits/overload.ts";
import { createRights } from "../http/rights.ts";
import { queryOf } from "../http/url.ts";
import { createNearest, showDirectory } from "../pages/directory/handler.tsx";
import { interstitial, type InterstitialDetails } from "../pages/interstitial/page.tsx";
import type { CachedProblem } from "../pages/problem/problem-cache.ts";
import { createSignIn } from "../pages/sign-in/handler.ts";
import type { AppParts, OperatorParts, PublicParts, ViewParts } from "./app-parts.ts";
import type { Core } from "./core.ts";
import type { Route } from "./router.ts";
import { HOME_ELSEWHERE, NOTICES, OPERATOR, PEOPLE, PUBLIC } from "./routes.ts";

interface EndpointsParts extends AppParts {
  readonly limiter: Limiter;
  readonly cachedProblem: CachedProblem;
  readonly notFound: Handler;
}

/**
 * Returns the routes of a domain, and the handler of the interstitial. That has no route, because it is at short addresses.
 */
export function createEndpoints(config: Config, core: Core, parts: EndpointsParts) {
  const { clock, operator, cases } = core;
  const { domain, own, views, overload, limiter, cachedProblem, changes, tokens, notFound, onFault } = parts;
  const access = { ...config, tokens };
  const { hasOperators, contact, createUserHeader } = config;

  const forPublic: PublicParts = {
    ...own,
    limiter,
    clock,
    rights: createRights({ ...config, secret: own.secret }),
    refusalToCreate: createCreatorCheck(access),
    isCreateToken: (text) => tokens.create.find(text) !== undefined,
    allKeys: core.secret,
    notFound,
    edits: config.edits,
    pathsNeedName: config.pathsNeedName,
    codeHoldMs: config.codeHoldMs,
    createUserHeader,
    views,
    onFault,
  };

  function forOperator(): OperatorParts {
    const { refusalOf, readUser, onWrong } = createOperatorCheck(access, core.limits, core.counters);
    const { signOutUrl } = config;
    const { sessions: store, secret } = core;
    const signIn = createSignIn({
      tokens: tokens.admin,
      readUser,
      signOutUrl,
      secret,
      clock,
      store,
      onWrong,
    });
    // The operator sees the links of all domains.
    return { operator, cases, views, refusalOf, signIn, allKeys: core.secret };
  }

  function route<Parts>(endpoint: Endpoint<string, Parts, ViewParts>, given: Parts): Route {
    const { at, cost, limit, changesLinks = false, forEveryOrigin, view } = endpoint;
    const served = endpoint.serve(given, view === undefined ? neverShown : views.show({ at, view }));
    const limits: LimitedHandler = typeof served === "function" ? { handle: served } : served;
    const limited = (handle: Handler) =>
      limits.limit?.(handle) ?? (limit === undefined ? handle : limiter.limit(limit, handle, limits.refuse));
    // A client without remaining creates takes no turn from others.
    if (cost === "create") return { at, handle: limited(inTurn("creates", limits.handle)), forEveryOrigin };
    const handle = limited(limits.handle);
    return { at, handle: COSTS[cost](changesLinks ? applied(handle) : handle), forEveryOrigin };
  }

  /** Responds only once the change has taken effect in this process. */
  function applied(handle: Handler): Handler {
    return async (call) => {
      const response = await handle(call);
      // The store has the change already. If reading it fails now, the next read applies it.
      if (response.status < 400) await changes.read().catch(onFault);
      return response;
    };
  }

  /** Lets redirects go first. */
  function inTurn(kind: RequestClass, handle: Handler): Handler {
    const refuse: Handler = (call) => cachedProblem(call, { kind: "overloaded" });
    return (call) => overload.takeTurns(kind, call, handle, refuse);
  }

  const COSTS: Record<Exclude<Cost, "create">, (handle: Handler) => Handler> = {
    little: (handle) => handle,
    work(handle) {
      const [read, write] = [inTurn("views", handle), inTurn("creates", handle)];
      return limiter.view((call) => (/^(?:GET|HEAD)$/.test(call.request.method) ? read(call) : write(call)));
    },
    shared(handle) {
      const withQuery: Handler = COSTS.work(handle);
      return (call) => (queryOf(call.request) === "" ? handle(call) : withQuery(call));
    },
  };

  const forEverybody = { ...PUBLIC, ...(domain.homeUrl !== undefined && HOME_ELSEWHERE) };
  const operatorParts = hasOperators ? forOperator() : undefined;
  return {
    routes: [
      ...Object.values(forEverybody).map((endpoint) => route(endpoint, forPublic)),
      ...(createUserHeader === null
        ? []
        : Object.values(PEOPLE).map((endpoint) => route(endpoint, forPublic))),
      ...(contact === null
        ? []
        : Object.values(NOTICES).map((endpoint) => route(endpoint, { contact, clock }))),
      ...(operatorParts === undefined
        ? []
        : Object.values(OPERATOR).map((endpoint) => route(endpoint, operatorParts))),
    ],
    showInterstitial: views.show<InterstitialDetails | undefined>(interstitial),
    showNearest: createNearest(forPublic, views.show(showDirectory)),
  };
}

function neverShown(): never {
  throw new Error("The endpoint declares no view");
}
