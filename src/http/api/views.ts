import type { Clock } from "../../links/clock.ts";
import type { Links } from "../../links/links.ts";
import { isProblem } from "../../links/problem.ts";
import { instantOf, type Expiry } from "../../links/time.ts";
import { message, negotiateLanguage } from "../../locales/messages.ts";
import type { Counts } from "../../visits/visits.ts";
import { MAX_BODY_BYTES } from "../body.ts";
import type { Asked } from "../call.ts";
import { memoizeByDomain } from "../domain.ts";
import { fileName } from "../download-name.ts";
import { knowsAlready, tagOf } from "../etag.ts";
import { problemJson } from "../problems.ts";
import { answer, csv, json } from "../responses.ts";
import { describeApi, describeParameters } from "./document.ts";
import { success, toShortLink } from "./envelope.ts";
import { linkData } from "./link-data.ts";
import type { Managed } from "./manage.ts";
import { operations } from "./operations.ts";
import { readStatisticsQuery } from "./query.ts";
import { EXAMPLE, type Information, type StatisticsData } from "./schemas.ts";
import { statisticsCsv } from "./statistics-csv.ts";

/** Kept by the caller, who asks each time whether it changed. */
const REVALIDATED = { "Cache-Control": "no-cache" };

export interface ApiViewsOptions {
  readonly links: Pick<Links, "find">;
  readonly visits: Counts;
  readonly clock: Pick<Clock, "nowMs">;
  readonly defaultExpiry: Expiry;
  readonly version: string;
  readonly needsToken: boolean;
}

/** The handlers of /api/v1 that cost many redirects. */
export function createApiViews(options: ApiViewsOptions) {
  const { links, visits, clock, defaultExpiry, version, needsToken } = options;
  const describe = memoizeByDomain((domain, language) => describeApi(domain, language, options));

  /** `data` is that of a call whose key was checked. The link may have been replaced since. */
  async function find(call: Asked, data: string) {
    const managed = data === "" ? undefined : (JSON.parse(data) as Managed);
    const link = await links.find(call.code, managed && "maker");
    const isMaker = !isProblem(link) && link.createdMs === managed?.createdMs;
    return isMaker || managed === undefined
      ? { link, isMaker }
      : { link: await links.find(call.code), isMaker };
  }

  return {
    information(call: Asked): Response {
      const { domain } = call;
      const language = negotiateLanguage(call.headers.get("accept-language"));
      const createdMs = Date.UTC(2026, 0, 1);
      const example = { code: EXAMPLE.custom_code, originalUrl: EXAMPLE.original_url };
      const data: Information = {
        name: "Curt",
        version,
        description: message(language, needsToken ? "info.description.token" : "info.description"),
        endpoint: `${domain.baseUrl}${operations.shorten.path}`,
        method: operations.shorten.method.toUpperCase(),
        content_type: "application/json",
        max_body_bytes: MAX_BODY_BYTES,
        parameters: describeParameters(describe(domain, language), defaultExpiry),
        example: {
          request: EXAMPLE,
          response: {
            status: "success",
            message: message(language, "shortened"),
            data: toShortLink(
              { ...example, endsMs: instantOf(createdMs, EXAMPLE.expire_duration) },
              EXAMPLE.custom_code,
              domain,
            ),
          },
        },
        openapi: `${domain.baseUrl}${operations.document.path}`,
      };
      return success(call, 200, "info", data);
    },

    async link(call: Asked, data: string): Promise<Response> {
      const { link, isMaker } = await find(call, data);
      if (isProblem(link)) return problemJson(call, link);
      const { visits: counted } = await visits.sums(link);
      const told = linkData(link, call.domain, { nowMs: clock.nowMs(), visits: counted, isMaker });
      return success(call, 200, "link", told, varyOf(isMaker));
    },

    async statistics(call: Asked, data: string): Promise<Response> {
      const query = readStatisticsQuery(call.request);
      if (isProblem(query)) return problemJson(call, query);
      const { link, isMaker } = await find(call, data);
      if (isProblem(link)) return problemJson(call, link);
      const { range, format, isDownload } = query;
      const revision = await visits.revision(link, range);
      if (isProblem(revision)) return problemJson(call, revision);
      const language = negotiateLanguage(call.headers.get("accept-language"));
      const ETag = `W/${tagOf([version, link.code, language, revision, isMaker, format, isDownload])}`;
      if (knowsAlready(call.headers, ETag)) return answer({ status: 304, headers: { ETag } });
      const found = await visits.statistics(link, range, isMaker ? "maker" : "visitor");
      if (isProblem(found)) return problemJson(call, found);
      const { shown: _, week: __, from, to, breakdowns, ...counted } = found;
      const { interval, timeZone: tz } = range;
      const told: StatisticsData = { code: link.code, from, to, interval, tz, ...counted, ...breakdowns };
      const headers = {
        ETag,
        Vary: `Accept, Accept-Language${isMaker ? ", Authorization" : ""}`,
        ...((isDownload || format === "csv") && {
          "Content-Disposition": fileName("attachment", link.code, "visits", format),
        }),
      };
      if (format === "csv") return csv(call, statisticsCsv(told), headers);
      return success(call, 200, "statistics", told, headers);
    },

    document(call: Asked): Response {
      const language = negotiateLanguage(call.headers.get("accept-language"));
      return json(call, 200, describe(call.domain, language), language, REVALIDATED);
    },

    /** The OpenAPI document of a domain in a language. */
    describe,
  };
}

/** Answers to a key are for nobody else. */
function varyOf(isMaker: boolean): Readonly<Record<string, string>> {
  return isMaker ? { Vary: "Accept-Language, Authorization" } : {};
}
