import { message, type MessageKey, negotiateLanguage } from "../../language/messages.ts";
import { endsMs, type Expiry } from "../../links/expiry.ts";
import type { Link } from "../../links/link.ts";
import type { Links } from "../../links/links.ts";
import { isProblem } from "../../links/problem.ts";
import type { Visits } from "../../visits/visits.ts";
import { json } from "../answers.ts";
import { MAX_BODY_BYTES } from "../body.ts";
import type { Call } from "../call.ts";
import { type Domain, memoizeByDomain } from "../domain.ts";
import { problemJson } from "../problems.ts";
import { describeApi, describeParameters } from "./document.ts";
import { operations } from "./operations.ts";
import { readStatisticsQuery } from "./query.ts";
import {
  type AvailabilityData,
  EXAMPLE,
  type Information,
  type LinkData,
  type ShortLink,
  type StatisticsData,
} from "./schemas.ts";
import { readShortenRequest } from "./shorten-request.ts";

/** Kept by the caller, who asks each time whether it changed. */
const REVALIDATED = { "Cache-Control": "no-cache" };

export interface ApiOptions {
  readonly links: Links;
  readonly visits: Visits;
  readonly defaultExpiry: Expiry;
  readonly version: string;
}

/** The handlers of /api/v1: a call in, an answer in the contract's envelope out. */
export function createApi(options: ApiOptions) {
  const { links, visits, defaultExpiry, version } = options;
  const describe = memoizeByDomain((domain, language) => describeApi(domain, version, language));
  return {
    async shorten(call: Call): Promise<Response> {
      const body = await readShortenRequest(call.request);
      if (isProblem(body)) return problemJson(call, body);
      const customCode = body.custom_code || undefined;
      const link = await links.create({
        originalUrl: body.original_url,
        customCode,
        expiry: body.expire_duration ?? undefined,
      });
      if (isProblem(link)) return problemJson(call, link);
      const data = toShortLink(link, customCode ?? link.code, call.domain);
      return success(call, 201, "shortened", data, { Location: new URL(data.short_url).href });
    },

    information(call: Call): Response {
      const { domain } = call;
      const language = negotiateLanguage(call.headers.get("accept-language"));
      const createdMs = Date.UTC(2026, 0, 1);
      const example = { code: EXAMPLE.custom_code, originalUrl: EXAMPLE.original_url };
      const data: Information = {
        name: "Curt",
        version,
        description: message(language, "info.description"),
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
              { ...example, endsMs: endsMs(createdMs, EXAMPLE.expire_duration) },
              EXAMPLE.custom_code,
              domain,
            ),
          },
        },
        openapi: `${domain.baseUrl}${operations.document.path}`,
      };
      return success(call, 200, "info", data);
    },

    async availability(call: Call): Promise<Response> {
      const found = await links.availability(call.code);
      if (isProblem(found)) return problemJson(call, found);
      const data: AvailabilityData = { ...found, short_url: call.domain.shortUrl(call.code) };
      return success(call, 200, found.available ? "free" : "taken", data);
    },

    async link(call: Call): Promise<Response> {
      const link = await links.find(call.code);
      if (isProblem(link)) return problemJson(call, link);
      const { visits: counted } = await visits.sums(link);
      const { code, ...short } = toShortLink(link, link.code, call.domain);
      const data: LinkData = {
        code,
        ...short,
        created: new Date(link.createdMs).toISOString(),
        visits: counted,
      };
      return success(call, 200, "link", data);
    },

    async statistics(call: Call): Promise<Response> {
      const query = readStatisticsQuery(call.request);
      if (isProblem(query)) return problemJson(call, query);
      const link = await links.find(call.code);
      if (isProblem(link)) return problemJson(call, link);
      const found = await visits.statistics(link, query);
      if (isProblem(found)) return problemJson(call, found);
      const { shown: _, from, to, breakdowns, ...counted } = found;
      const { interval, timeZone: tz } = query;
      const data: StatisticsData = { code: link.code, from, to, interval, tz, ...counted, ...breakdowns };
      return success(call, 200, "statistics", data);
    },

    document(call: Call): Response {
      const language = negotiateLanguage(call.headers.get("accept-language"));
      return json(call, 200, describe(call.domain, language), language, REVALIDATED);
    },

    /** The OpenAPI document of a domain in a language. */
    describe,
  };
}

/** The contract's envelope. */
function success(
  call: Call,
  status: number,
  key: MessageKey,
  data: unknown,
  ownHeaders: Readonly<Record<string, string>> = {},
): Response {
  const language = negotiateLanguage(call.headers.get("accept-language"));
  return json(
    call,
    status,
    { status: "success", message: message(language, key), data },
    language,
    ownHeaders,
  );
}

/** `written` is the code as its maker spelled it. */
function toShortLink(link: Pick<Link, "originalUrl" | "endsMs">, written: string, domain: Domain): ShortLink {
  return {
    short_url: domain.shortUrl(written),
    original_url: link.originalUrl,
    code: written,
    expiration_date: new Date(link.endsMs).toISOString(),
  };
}

export type Api = ReturnType<typeof createApi>;
