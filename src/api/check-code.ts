import type { Call } from "../http/call.ts";
import { endpoint } from "../http/endpoint.ts";
import { problemJson } from "../http/problems.ts";
import { isProblem } from "../links/problem.ts";
import type { ApiParts } from "./api-parts.ts";
import { envelope, success } from "./envelope.ts";
import {
  codeField,
  codeParameter,
  type Entry,
  refusal,
  returns,
  shortUrl,
  storeFailures,
  string,
} from "./openapi/components.ts";
import { z } from "./openapi/schema.ts";

const availability = z
  .object({
    code: codeField,
    available: z.boolean().openapi({ example: true, description: "api.availability.available" }),
    free: z.array(string).readonly().openapi({ example: [], description: "api.availability.free" }),
    short_url: shortUrl.openapi({ description: "api.availability.short_url" }),
  })
  .openapi("Availability");

export const checkCode = endpoint({
  at: "GET /api/v1/codes/{code}",
  cost: "work",
  entry: {
    tags: ["Links"],
    operationId: "checkCode",
    summary: "api.availability",
    description: "api.availability.description",
    request: { params: codeParameter },
    responses: {
      200: returns("api.availability.answer", envelope("free", availability).openapi("AvailabilityResponse")),
      400: refusal("api.availability.refused"),
      ...storeFailures,
    },
  } satisfies Entry,
  serve:
    ({ links, limiter }: ApiParts) =>
    async (call: Call) => {
      const result = await links.availability(call.code);
      if (isProblem(result)) return problemJson(call, result);
      // A free code is an unknown address, so scans for codes count here as well.
      const isUnknown = result.available || result.free.length > 0;
      const problem = isUnknown ? await limiter.unknown(call) : undefined;
      if (problem !== undefined) return problemJson(call, problem);
      const data: z.infer<typeof availability> = { ...result, short_url: call.domain.shortUrl(call.code) };
      return success(call, 200, result.available ? "free" : "taken", data);
    },
});
