import type { Clock } from "../../links/clock.ts";
import type { Links } from "../../links/links.ts";
import { isProblem } from "../../links/problem.ts";
import type { Visits } from "../../visits/visits.ts";
import type { Call } from "../call.ts";
import { problemJson } from "../problems.ts";
import { success, toShortLink } from "./envelope.ts";
import { createPace } from "./pace.ts";
import type { AvailabilityData, LinkData } from "./schemas.ts";
import { readShortenRequest } from "./shorten-request.ts";

/** In seconds. */
const POLL_INTERVAL = "X-Poll-Interval";

export interface ApiOptions {
  readonly links: Pick<Links, "create" | "availability" | "find">;
  readonly visits: Pick<Visits, "sums">;
  readonly clock: Pick<Clock, "monotonicMs">;
}

/** The handlers of /api/v1 that cost no more than a few redirects; the others are in `views.ts`. */
export function createApi(options: ApiOptions) {
  const { links, visits, clock } = options;
  const pace = createPace(clock);
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
      return success(call, 200, "link", data, { [POLL_INTERVAL]: String(pace(link.code)) });
    },
  };
}

export type Api = ReturnType<typeof createApi>;
