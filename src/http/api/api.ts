import type { Clock } from "../../links/clock.ts";
import type { Links } from "../../links/links.ts";
import { isProblem } from "../../links/problem.ts";
import type { Reports } from "../../moderation/reports/reports.ts";
import type { Call } from "../call.ts";
import type { Limiter } from "../limiter.ts";
import { problemJson } from "../problems.ts";
import { success } from "./envelope.ts";
import { readJson } from "./json-body.ts";
import { createMakers, type MakersOptions } from "./makers.ts";
import { createManage, type ManageOptions } from "./manage.ts";
import { createPace } from "./pace.ts";
import type { AvailabilityData, ReportData } from "./schemas.ts";

/** In seconds. */
const POLL_INTERVAL = "X-Poll-Interval";

export interface ApiOptions extends MakersOptions, ManageOptions {
  readonly limiter: MakersOptions["limiter"] & Pick<Limiter, "unknown">;
  readonly links: MakersOptions["links"] & ManageOptions["links"] & Pick<Links, "availability">;
  readonly reports: Pick<Reports, "report">;
  readonly clock: Pick<Clock, "nowMs" | "monotonicMs">;
}

/** The handlers of /api/v1 that cost no more than a few redirects; what is dearer is made by `views.ts`. */
export function createApi(options: ApiOptions) {
  const { links, reports, clock, limiter } = options;
  const manage = createManage(options);
  const showLink = manage.show("link");
  const pace = createPace(clock);
  return {
    ...createMakers(options),

    async availability(call: Call): Promise<Response> {
      const found = await links.availability(call.code);
      if (isProblem(found)) return problemJson(call, found);
      // A free code is an address that leads nowhere: whoever scans codes must not do it here.
      const limited = found.available || found.free.length > 0 ? await limiter.unknown(call) : undefined;
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
