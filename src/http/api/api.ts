import { message, type MessageKey, negotiateLanguage } from "../../language/messages.ts";
import { endsMs, type Expiry } from "../../links/expiry.ts";
import type { Link } from "../../links/link.ts";
import type { Links } from "../../links/links.ts";
import { memoize } from "../../memoize.ts";
import type { Visits } from "../../visits/visits.ts";
import { json } from "../answers.ts";
import { shortUrl } from "../domain.ts";
import { problemJson } from "../problems.ts";
import { readShortenRequest } from "./body.ts";
import { describeApi, describeParameters } from "./document.ts";
import { operations } from "./operations.ts";
import { readStatisticsQuery } from "./query.ts";
import {
  type AvailabilityData,
  EXAMPLE,
  type Information,
  type LinkData,
  MAX_BODY_BYTES,
  type ShortLink,
  type StatisticsData,
} from "./schemas.ts";

export interface ApiOptions {
  readonly links: Links;
  readonly visits: Visits;
  readonly baseUrl: string;
  readonly defaultExpiry: Expiry;
  readonly version: string;
}

/** The handlers of /api/v1: a request in, an answer in the contract's envelope out. */
export function createApi(options: ApiOptions) {
  const { links, visits, baseUrl, defaultExpiry, version } = options;
  const describe = memoize((language) => describeApi(baseUrl, version, language));
  return {
    async shorten(request: Request): Promise<Response> {
      const body = await readShortenRequest(request);
      if ("kind" in body) return problemJson(request.headers, body);
      const customCode = body.custom_code || undefined;
      const link = await links.create({
        originalUrl: body.original_url,
        customCode,
        expiry: body.expire_duration ?? undefined,
      });
      if ("kind" in link) return problemJson(request.headers, link);
      const data = toShortLink(link, customCode ?? link.code, baseUrl);
      return success(request, 201, "shortened", data, { Location: new URL(data.short_url).href });
    },

    information(request: Request): Response {
      const language = negotiateLanguage(request.headers.get("accept-language"));
      const createdMs = Date.UTC(2026, 0, 1);
      const example = { code: EXAMPLE.custom_code, originalUrl: EXAMPLE.original_url };
      const data: Information = {
        name: "Curt",
        version,
        description: message(language, "info.description"),
        endpoint: `${baseUrl}${operations.shorten.path}`,
        method: operations.shorten.method.toUpperCase(),
        content_type: "application/json",
        max_body_bytes: MAX_BODY_BYTES,
        parameters: describeParameters(describe(language), defaultExpiry),
        example: {
          request: EXAMPLE,
          response: {
            status: "success",
            message: message(language, "shortened"),
            data: toShortLink(
              { ...example, endsMs: endsMs(createdMs, EXAMPLE.expire_duration) },
              EXAMPLE.custom_code,
              baseUrl,
            ),
          },
        },
        openapi: `${baseUrl}${operations.document.path}`,
      };
      return success(request, 200, "info", data);
    },

    async availability(request: Request, written: string): Promise<Response> {
      const found = await links.availability(written);
      if ("kind" in found) return problemJson(request.headers, found);
      const data: AvailabilityData = { ...found, short_url: shortUrl(baseUrl, written) };
      return success(request, 200, found.available ? "free" : "taken", data);
    },

    async link(request: Request, spelling: string): Promise<Response> {
      const link = await links.find(spelling);
      if ("kind" in link) return problemJson(request.headers, link);
      const { visits: counted } = await visits.sums(link);
      const { code, ...short } = toShortLink(link, link.code, baseUrl);
      const data: LinkData = {
        code,
        ...short,
        created: new Date(link.createdMs).toISOString(),
        visits: counted,
      };
      return success(request, 200, "link", data);
    },

    async statistics(request: Request, spelling: string): Promise<Response> {
      const { headers } = request;
      const query = readStatisticsQuery(request);
      if (Array.isArray(query)) return problemJson(headers, { kind: "malformed", faults: query });
      const link = await links.find(spelling);
      if ("kind" in link) return problemJson(headers, link);
      const found = await visits.statistics(link, query);
      if ("rule" in found) return problemJson(headers, { kind: "malformed", faults: [found] });
      const { from, to, breakdowns, ...counted } = found;
      const { interval, timeZone: tz } = query;
      const data: StatisticsData = { code: link.code, from, to, interval, tz, ...counted, ...breakdowns };
      return success(request, 200, "statistics", data);
    },

    document({ headers }: Request): Response {
      const language = negotiateLanguage(headers.get("accept-language"));
      return json(200, describe(language), language);
    },

    /** The OpenAPI document in a language. */
    describe,
  };
}

/** The contract's envelope. */
function success(
  { headers }: Request,
  status: number,
  key: MessageKey,
  data: unknown,
  ownHeaders: Readonly<Record<string, string>> = {},
): Response {
  const language = negotiateLanguage(headers.get("accept-language"));
  return json(status, { status: "success", message: message(language, key), data }, language, ownHeaders);
}

/** `written` is the code as its maker spelled it. */
function toShortLink(
  link: Pick<Link, "originalUrl" | "endsMs">,
  written: string,
  baseUrl: string,
): ShortLink {
  return {
    short_url: shortUrl(baseUrl, written),
    original_url: link.originalUrl,
    code: written,
    expiration_date: new Date(link.endsMs).toISOString(),
  };
}

export type Api = ReturnType<typeof createApi>;
