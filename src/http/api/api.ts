import type { Reports } from "../../guard/reports.ts";
import type { Clock } from "../../links/clock.ts";
import type { Links } from "../../links/links.ts";
import { isProblem } from "../../links/problem.ts";
import { bearerToken } from "../bearer.ts";
import type { Call, Handler } from "../call.ts";
import type { Limiter } from "../limits.ts";
import { problemJson } from "../problems.ts";
import type { Dialects } from "./create.ts";
import { success } from "./envelope.ts";
import { readJson, readObject } from "./json-body.ts";
import { createManage, type ManageOptions } from "./manage.ts";
import { createPace } from "./pace.ts";
import type { AvailabilityData, ReportData } from "./schemas.ts";

/** In seconds. */
const POLL_INTERVAL = "X-Poll-Interval";

/** How long after the start the schemas are loaded, at the latest: before somebody replaces the files of this version. */
const LOAD_AFTER_MS = 1000;

export interface ApiOptions extends ManageOptions {
  readonly limiter: Pick<Limiter, "limit" | "unknown">;
  readonly links: Pick<Links, "create" | "availability" | "find" | "edit" | "withdraw">;
  readonly reports: Pick<Reports, "report">;
  readonly clock: Pick<Clock, "nowMs" | "monotonicMs">;
}

/** The handlers of /api/v1 that cost no more than a few redirects; what is dearer is made by `views.ts`. */
export function createApi(options: ApiOptions) {
  const { links, reports, clock, limiter, mayCreate, secret } = options;
  const manage = createManage(options);
  const showLink = manage.show("link");
  const pace = createPace(clock);
  let dialects: Dialects | undefined;
  /** After the start or with the first body, because making the schemas takes a while and redirects do without. */
  async function loadDialects(): Promise<Dialects> {
    const { createDialects } = await import("./create.ts");
    return (dialects ??= createDialects(secret));
  }
  // If it fails, the first body tries again, and its answer tells.
  setTimeout(() => void loadDialects().catch(() => {}), LOAD_AFTER_MS).unref();

  const make =
    (name: keyof Dialects): Handler =>
    async (call) => {
      const token = bearerToken(call.headers);
      if (!mayCreate(token))
        return problemJson(call, { kind: token === "" ? "token.missing" : "token.wrong" });
      const dialect = (dialects ?? (await loadDialects()))[name];
      const body = await readObject(call.request, dialect.example);
      if (isProblem(body)) return problemJson(call, body);
      const wanted = dialect.read(body.value);
      if (isProblem(wanted)) return problemJson(call, wanted, {}, dialect.fields);
      const link = await links.create(wanted.request);
      if (isProblem(link)) return problemJson(call, link, {}, dialect.fields);
      const { data, headers } = wanted.tell(link, call.domain);
      return success(call, 201, dialect.message, data, headers);
    };

  return {
    shorten: make("shorten"),

    makeLink: make("links"),

    async availability(call: Call): Promise<Response> {
      const found = await links.availability(call.code);
      if (isProblem(found)) return problemJson(call, found);
      // A free code is an address that leads nowhere: whoever scans codes must not do it here.
      const limited = found.available ? await limiter.unknown(call) : undefined;
      if (limited !== undefined) return problemJson(call, limited);
      const data: AvailabilityData = { ...found, short_url: call.domain.shortUrl(call.code) };
      return success(call, 200, found.available ? "free" : "taken", data);
    },

    /** The answer is the same whether or not the report counts, so that nobody learns what others reported. */
    async report(call: Call): Promise<Response> {
      const { address } = call.client();
      // A page of another site could make each of its visitors report a link.
      if (call.headers.get("sec-fetch-site") === "cross-site")
        return problemJson(call, { kind: "cross-site" });
      const { reportRequest, REPORT_EXAMPLE } = await import("./schemas.ts");
      const body = await readJson(call.request, reportRequest, REPORT_EXAMPLE);
      if (isProblem(body)) return problemJson(call, body);
      const { reason, note } = body;
      const link = await reports.report(call.code, { reason, note: note ?? undefined }, address);
      if (isProblem(link)) return problemJson(call, link);
      const data: ReportData = { code: link.code, reason };
      return success(call, 202, "reported", data);
    },

    /** Adding up the visits of many days takes a while, and every open preview asks for them. */
    async link(call: Call): Promise<Response> {
      const response = await showLink(call);
      if (response.ok) response.headers.set(POLL_INTERVAL, String(pace(call.code)));
      return response;
    },

    statistics: manage.show("statistics"),
    change: manage.change,
    withdraw: manage.withdraw,
  };
}

export type Api = ReturnType<typeof createApi>;
