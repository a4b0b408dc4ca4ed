import type { AdminApi } from "../api/admin/admin.ts";
import type { Api } from "../api/api.ts";
import type { Call, Handler } from "../http/call.ts";
import type { Limiter } from "../http/limiter.ts";
import type { Overload, TakesTurns } from "../http/overload.ts";
import type { AnswerKept } from "../http/response-cache.ts";
import { answer } from "../http/responses.ts";
import { queryOf } from "../http/url.ts";
import type { Views } from "../http/views/views.ts";
import type { AdminPages } from "../pages/admin/handler.ts";
import type { Home } from "../pages/home/handler.ts";
import type { ManagePages } from "../pages/manage/handler.ts";
import type { JustCreated } from "../pages/preview/just-created.ts";
import { type Report, REPORTED_PATH } from "../pages/report/handler.ts";
import { MY_LINKS_PATH, PRIVACY_PATH, REPORT_PATH } from "../pages/shared/layout.tsx";
import type { UnknownAnswer } from "../pages/unknown/handler.ts";
import type { Gate } from "../redirect/gate.ts";
import type { Redirect } from "../redirect/redirect.ts";
import { forEveryOrigin } from "./cors.ts";
import type { Health } from "./health.ts";
import type { LazyHandlers } from "./lazy-handlers.ts";
import { createRouter, type RouterOptions } from "./router.ts";
import type { Notices } from "./well-known.ts";

export interface AppOptions extends Omit<RouterOptions, "isOpen" | "notFound"> {
  readonly api: LazyHandlers<Api>;
  /** Undefined if there is no operator's token. */
  readonly admin:
    | {
        readonly api: LazyHandlers<AdminApi>;
        readonly pages: AdminPages;
      }
    | undefined;
  /** Applies what was changed in this process. */
  readonly onChanged: () => Promise<void>;
  readonly home: Home;
  readonly notices: Notices;
  readonly report: Report;
  readonly justCreated: Pick<JustCreated, "preview">;
  readonly managePages: ManagePages;
  readonly redirect: Redirect;
  readonly gate: Pick<Gate, "receive" | "takesPost">;
  readonly answerUnknown: UnknownAnswer;
  readonly views: Pick<Views, "show">;
  /** By address. */
  readonly assets: Readonly<Record<string, Handler>>;
  readonly health: Health;
  readonly limiter: Limiter;
  readonly overload: Pick<Overload, "takeTurns">;
  readonly answerKept: AnswerKept;
}

/**
 * Every route. The server sends each path of `fixed` to its function, GET of /:code and /:code/ to `redirect`, and
 * everything else to `fetch`.
 */
export function createApp(options: AppOptions) {
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
    answerKept,
    onChanged,
  } = options;
  const { limit } = limiter;
  const isOpen = (path: string) => admin === undefined || !path.startsWith("/api/v1/admin/");
  const { route, serve, receive, fetch, fixed } = createRouter({ ...options, isOpen, notFound });

  route("/", { GET: sharedPage("home"), POST: making(limit("create", home.make, home.refuse)) });
  route("/docs", { GET: view(views.show("reference")) });
  route("/api/v1/shorten", {
    GET: view(views.show("information")),
    POST: making(api("shorten")),
  });
  route("/api/v1/shorten/batch", { POST: making(api("shortenBatch")) });
  route("/api/v1/links", { POST: making(api("createLink")) });
  // A link can have the code `batch`: other methods at this address are for it.
  serve("/api/v1/links/batch", { POST: making(api("linksBatch")) });
  route("/api/v1/codes/{code}", { GET: view(api("checkCode")) });
  route(
    "/api/v1/links/{code}",
    {
      GET: view(api("getLink")),
      PATCH: view(atOnce(api("updateLink"))),
      DELETE: view(atOnce(api("withdrawLink"))),
    },
    { takesPost: ({ code }) => code === "batch" },
  );
  route("/api/v1/links/{code}/stats", { GET: view(api("getStatistics")) });
  route("/api/v1/links/{code}/reports", { POST: view(limit("report", api("reportLink"))) });
  route("/api/v1/openapi.json", { GET: view(views.show("document")) });
  for (const [path, asset] of Object.entries(assets)) route(path, { GET: asset });
  route("/robots.txt", { GET: notices.robots });
  if (notices.security !== undefined) route("/.well-known/security.txt", { GET: notices.security });
  route("/{code}.svg", { GET: view(views.show("svg")) }, { middleware: [forEveryOrigin] });
  route("/{code}.png", { GET: view(views.show("png")) }, { middleware: [forEveryOrigin] });
  route("/livez", { GET: health.live });
  route("/readyz", { GET: health.ready });
  if (admin !== undefined) addAdmin(admin);
  route("/{code}+", { GET: view(justCreated.preview) });
  route("/{code}+qr", { GET: view(views.show("qr")) });
  route("/{code}+report", {
    GET: view(views.show("report")),
    POST: view(limit("report", report.send, report.refuse)),
  });
  route("/{code}+manage", {
    GET: view(views.show("manage")),
    POST: view(atOnce(managePages.manage)),
  });
  route(REPORT_PATH, { GET: view(views.show("reportAny")) });
  route(REPORTED_PATH, { GET: sharedPage("reported") });
  route(PRIVACY_PATH, { GET: sharedPage("privacy") });
  route(MY_LINKS_PATH, { GET: sharedPage("myLinks") });
  // Short addresses are answered with a slash at the end, and people put the + behind it.
  for (const page of ["+", "+qr", "+report", "+manage"])
    route(`/{code}/${page}`, { GET: ({ code }) => moved(`/${encodeURIComponent(code)}${page}`) });
  receive("/{code}", gate.receive);
  // A GET gets here with what no code can be, or by an address that Bun has tidied up, such as /x/../code.
  route("/{code}", { GET: notFound }, { takesPost: gate.takesPost });

  /** In this process, what was changed or decided has taken effect when it is answered. */
  function atOnce(handle: Handler): Handler {
    return async (call) => {
      const response = await handle(call);
      if (response.status < 400) await onChanged();
      return response;
    };
  }

  /** Lets redirects go first. */
  function inTurn(what: TakesTurns, handle: Handler): Handler {
    return (call) =>
      overload.takeTurns(
        what,
        call,
        () => handle(call),
        () => answerKept(call, { kind: "overloaded" }),
      );
  }

  /** Makes links. A client that may not make any is told so at once, and takes no turn from others. */
  function making(handle: Handler): Handler {
    const later = inTurn("creates", handle);
    return (call) => (limiter.left(call, "create") === 0 ? handle(call) : later(call));
  }

  /** Something else that takes longer than a redirect. */
  function view(handle: Handler): Handler {
    const [seen, changed] = [inTurn("views", handle), inTurn("creates", handle)];
    return limiter.view((call) => (/^(?:GET|HEAD)$/.test(call.request.method) ? seen(call) : changed(call)));
  }

  function addAdmin({ api: operator, pages }: NonNullable<AppOptions["admin"]>): void {
    route("/api/v1/admin/links", { GET: operator("links") });
    route("/api/v1/admin/links/{code}", {
      GET: operator("link"),
      POST: atOnce(operator("changeAll")),
      DELETE: atOnce(operator("erase")),
    });
    route("/api/v1/admin/links/{code}/stats", { GET: operator("statistics") });
    route("/api/v1/admin/links/{code}/disable", { POST: atOnce(operator("disable")) });
    route("/api/v1/admin/links/{code}/enable", { POST: atOnce(operator("enable")) });
    route("/api/v1/admin/hosts", { GET: operator("hosts") });
    route("/api/v1/admin/hosts/{host}", {
      PUT: atOnce(operator("block")),
      DELETE: atOnce(operator("unblock")),
    });
    route("/api/v1/admin/cases", { GET: operator("cases") });
    route("/api/v1/admin/cases/{code}", { POST: atOnce(operator("answerCase")) });
    route("/api/v1/admin/figures", { GET: operator("figures") });
    route("/api/v1/admin/journal", { GET: operator("journal") });
    route("/admin", { GET: pages.figures, POST: pages.signIn });
    route("/admin/sign-out", { POST: pages.signOut });
    route("/admin/links", { GET: pages.links });
    route("/admin/links/{code}", { GET: pages.link, POST: atOnce(pages.decide) });
    route("/admin/found", { GET: pages.found, POST: atOnce(pages.decideFound) });
    route("/admin/hosts", { GET: pages.hosts, POST: atOnce(pages.decideHost) });
    route("/admin/cases", { GET: pages.cases, POST: atOnce(pages.answer) });
    route("/admin/journal", { GET: pages.journal });
  }

  /** Everybody shares this page, so it is not limited. One that an address fills in is made for a single reader. */
  function sharedPage(name: "home" | "reported" | "privacy" | "myLinks"): Handler {
    const shared = views.show(name);
    const own = view(shared);
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
