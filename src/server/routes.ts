import { forEveryOrigin } from "../http/api-headers.ts";
import type { Call, Handler } from "../http/call.ts";
import type { RequestClass } from "../http/overload.ts";
import { answer } from "../http/responses.ts";
import { queryOf } from "../http/url.ts";
import { REPORTED_PATH } from "../pages/report/handler.ts";
import { MY_LINKS_PATH, PRIVACY_PATH, REPORT_PATH } from "../pages/shared/layout.tsx";
import type { Handlers } from "./handlers.ts";
import { createRouter } from "./router.ts";

/**
 * Every route. Bun sends each path of `fixed` to its function, GET of /:code and /:code/ to `redirect`, and everything else to
 * `fetch`. Handlers run on the serving thread. `onViewsThread` moves a route's work to the views thread. The previews, `getLink`,
 * `getStatistics` and the operator's pages check the call first, then pass it on to the views thread.
 */
export function createApp(handlers: Handlers) {
  const {
    api,
    admin,
    home,
    notices,
    report,
    justCreated,
    managePages,
    redirect,
    gate,
    answerUnknown,
    views,
    assets,
    health,
    limiter,
    overload,
    cachedProblem,
    onChanged,
    callOf,
    requests,
    onFault,
  } = handlers;
  const { limit } = limiter;
  const onViewsThread = views.show;
  const isOpen = (path: string) => admin === undefined || !path.startsWith("/api/v1/admin/");
  const { route, serve, receive, fetch, fixed } = createRouter({
    limiter,
    callOf,
    requests,
    onFault,
    isOpen,
    notFound,
  });

  route("/", { GET: sharedPage("home"), POST: create(limit("create", home.make, home.refuse)) });
  route("/docs", { GET: costly(onViewsThread("reference")) });
  route("/api/v1/shorten", {
    GET: costly(onViewsThread("information")),
    POST: create(api("shorten")),
  });
  route("/api/v1", { GET: api("index") });
  route("/api", { GET: () => moved("/api/v1") });
  route("/api/v1/links", { POST: create(api("createLink")) });
  // A link can have the code `batch`: other methods at this address are for it.
  serve("/api/v1/links/batch", { POST: create(api("createLinks")) });
  route("/api/v1/codes/{code}", { GET: costly(api("checkCode")) });
  route(
    "/api/v1/links/{code}",
    {
      GET: costly(api("getLink")),
      PATCH: costly(applied(api("updateLink"))),
      DELETE: costly(applied(api("withdrawLink"))),
    },
    { takesPost: ({ code }) => code === "batch" },
  );
  route("/api/v1/links/{code}/stats", { GET: costly(api("getStatistics")) });
  route("/api/v1/links/{code}/reports", { POST: costly(limit("report", api("reportLink"))) });
  route("/api/v1/openapi.json", { GET: costly(onViewsThread("document")) });
  for (const [path, asset] of Object.entries(assets)) route(path, { GET: asset });
  route("/robots.txt", { GET: notices.robots });
  if (notices.security !== undefined) route("/.well-known/security.txt", { GET: notices.security });
  route("/{code}.svg", { GET: costly(onViewsThread("svg")) }, { middleware: [forEveryOrigin] });
  route("/{code}.png", { GET: costly(onViewsThread("png")) }, { middleware: [forEveryOrigin] });
  route("/livez", { GET: health.live });
  route("/readyz", { GET: health.ready });
  if (admin !== undefined) addAdmin(admin);
  route("/{code}+", { GET: costly(justCreated.preview) });
  route("/{code}+qr", { GET: costly(onViewsThread("qr")) });
  route("/{code}+report", {
    GET: costly(onViewsThread("report")),
    POST: costly(limit("report", report.send, report.refuse)),
  });
  route("/{code}+manage", {
    GET: costly(onViewsThread("manage")),
    POST: costly(applied(managePages.manage)),
  });
  route(REPORT_PATH, { GET: costly(onViewsThread("reportAny")) });
  route(REPORTED_PATH, { GET: sharedPage("reported") });
  route(PRIVACY_PATH, { GET: sharedPage("privacy") });
  route(MY_LINKS_PATH, { GET: sharedPage("myLinks") });
  // Short addresses end with a slash, and people put the + behind it.
  for (const page of ["+", "+qr", "+report", "+manage"])
    route(`/{code}/${page}`, {
      GET: ({ code, request }) => moved(`/${encodeURIComponent(code)}${page}${queryOf(request)}`),
    });
  receive("/{code}", gate.receive);
  // A GET gets here if its path can't be a code, or if Bun has normalised it, such as /x/../code.
  route("/{code}", { GET: notFound }, { takesPost: gate.takesPost });

  /** Responds only once the change has taken effect in this process. */
  function applied(handle: Handler): Handler {
    return async (call) => {
      const response = await handle(call);
      if (response.status < 400) await onChanged();
      return response;
    };
  }

  /** Lets redirects go first. */
  function inTurn(kind: RequestClass, handle: Handler): Handler {
    return (call) =>
      overload.takeTurns(
        kind,
        call,
        () => handle(call),
        () => cachedProblem(call, { kind: "overloaded" }),
      );
  }

  /** Creates links. A client without remaining creates is refused immediately, and takes no turn from others. */
  function create(handle: Handler): Handler {
    const later = inTurn("creates", handle);
    return (call) => (limiter.remaining(call, "create") === 0 ? handle(call) : later(call));
  }

  /** Limits any other request that is more expensive than a redirect. */
  function costly(handle: Handler): Handler {
    const [read, write] = [inTurn("views", handle), inTurn("creates", handle)];
    return limiter.view((call) => (/^(?:GET|HEAD)$/.test(call.request.method) ? read(call) : write(call)));
  }

  function addAdmin({ api: operator, pages }: NonNullable<Handlers["admin"]>): void {
    route("/api/v1/admin/links", { GET: operator("links") });
    route("/api/v1/admin/links/{code}", {
      GET: operator("link"),
      POST: applied(operator("changeAll")),
      PATCH: applied(operator("change")),
      DELETE: applied(operator("erase")),
    });
    route("/api/v1/admin/links/{code}/stats", { GET: operator("statistics") });
    route("/api/v1/admin/links/{code}/disable", { POST: applied(operator("disable")) });
    route("/api/v1/admin/links/{code}/enable", { POST: applied(operator("enable")) });
    route("/api/v1/admin/hosts", { GET: operator("hosts") });
    route("/api/v1/admin/hosts/{host}", {
      PUT: applied(operator("block")),
      DELETE: applied(operator("unblock")),
    });
    route("/api/v1/admin/cases", { GET: operator("cases") });
    route("/api/v1/admin/cases/{code}", { POST: applied(operator("answerCase")) });
    route("/api/v1/admin/figures", { GET: operator("figures") });
    route("/api/v1/admin/journal", { GET: operator("journal") });
    route("/admin", { GET: pages.figures, POST: pages.signIn });
    route("/admin/sign-out", { POST: pages.signOut });
    route("/admin/links", { GET: pages.links });
    route("/admin/links/{code}", { GET: pages.link, POST: applied(pages.decide) });
    route("/admin/found", { GET: pages.found, POST: applied(pages.decideFound) });
    route("/admin/hosts", { GET: pages.hosts, POST: applied(pages.decideHost) });
    route("/admin/cases", { GET: pages.figures, POST: applied(pages.answer) });
    route("/admin/journal", { GET: pages.journal });
  }

  /** A page that all readers share, so it isn't limited. With a query, it is rendered for a single reader. */
  function sharedPage(name: "home" | "reported" | "privacy" | "myLinks"): Handler {
    const shared = onViewsThread(name);
    const own = costly(shared);
    return (call) => (queryOf(call.request) === "" ? shared(call) : own(call));
  }

  async function notFound(call: Call): Promise<Response> {
    return answerUnknown(call, { kind: "not-found" });
  }

  return { redirect: redirect(fetch), fetch, fixed };
}

function moved(path: string): Response {
  return answer({ status: 308, headers: { Location: path } });
}
