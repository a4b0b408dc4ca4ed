import { createRoute, z } from "@hono/zod-openapi";

import { HOURS_KEPT_DAYS } from "../clicks/ageing.ts";
import { DIMENSIONS, type Dimension, FEWEST_VISITORS } from "../clicks/day.ts";
import { INTERVALS, MAX_RANGE_DAYS } from "../clicks/statistics.ts";
import type { MessageKey } from "../language/language.ts";
import { MAX_CODE_POINTS } from "../links/code.ts";
import { DURATIONS } from "../links/expiry.ts";
import { MAX_TARGET_LENGTH } from "../links/target.ts";

/** In bytes. */
export const MAX_BODY_BYTES = 64 * 1024;

export const EXAMPLE = {
  original_url: "https://example.com/a/long/address",
  custom_code: "한글",
  expire_duration: "1week",
} as const;

const { original_url, expire_duration } = EXAMPLE;
const EXAMPLE_BODY = { original_url, expire_duration };

/** Values of the placeholders in the messages below. */
export const LIMITS = {
  bytes: MAX_BODY_BYTES,
  days: MAX_RANGE_DAYS,
  hours_days: HOURS_KEPT_DAYS,
  visitors: FEWEST_VISITORS,
};

// Every description and summary is the key of a message; document.ts puts the message there. In an example,
// {base} is this service's address, and any other name in braces a message.

/** Types only: the rules for codes and URLs are the domain's. */
export const shortenRequest = z
  .object({
    original_url: z.string().openapi({
      description: "info.original_url",
      format: "uri",
      maxLength: MAX_TARGET_LENGTH,
      example: EXAMPLE.original_url,
    }),
    custom_code: z.string().nullish().openapi({
      description: "info.custom_code",
      maxLength: MAX_CODE_POINTS,
      example: EXAMPLE.custom_code,
    }),
    expire_duration: z.enum(DURATIONS).nullish().openapi({
      description: "info.expire_duration",
      example: EXAMPLE.expire_duration,
    }),
  })
  .openapi("ShortenRequest");

const text = z.string();
const count = (description: MessageKey, example?: number) =>
  z
    .int()
    .nonnegative()
    .openapi({ description, ...(example !== undefined && { example }) });
const instant = (description: MessageKey, example: string) =>
  text.openapi({ format: "date-time", description, example });
const success = <T extends z.ZodType>(message: MessageKey, data: T) =>
  z.strictObject({
    status: z.literal("success"),
    message: text.openapi({ example: `{${message}}` }),
    data,
  });

const shortUrl = text.openapi({
  format: "iri",
  description: "api.short.short_url",
  example: `{base}/${EXAMPLE.custom_code}/`,
});

const shortLink = z
  .strictObject({
    short_url: shortUrl,
    original_url: text.openapi({ description: "api.short.original_url", example: EXAMPLE.original_url }),
    code: text.openapi({ description: "api.short.code", example: EXAMPLE.custom_code }),
    expiration_date: instant("api.short.expiration_date", "2026-01-08T00:00:00.000Z"),
  })
  .openapi("ShortLink");

const linkData = z
  .strictObject({
    code: text.openapi({ description: "api.link.code", example: EXAMPLE.custom_code }),
    short_url: shortUrl,
    original_url: text.openapi({ description: "api.short.original_url", example: EXAMPLE.original_url }),
    created: instant("api.link.created", "2026-01-01T00:00:00.000Z"),
    expiration_date: instant("api.link.expiration_date", "2026-01-08T00:00:00.000Z"),
    visits: count("api.link.visits", 120),
  })
  .openapi("Link");

const availability = z
  .strictObject({
    code: text.openapi({ description: "api.link.code", example: EXAMPLE.custom_code }),
    available: z.boolean().openapi({ example: true, description: "api.availability.available" }),
    short_url: text.openapi({
      format: "iri",
      description: "api.availability.short_url",
      example: `{base}/${EXAMPLE.custom_code}/`,
    }),
  })
  .openapi("Availability");

const point = z.strictObject({
  start: text.openapi({
    description: "api.stats.start",
    example: "2026-11-21",
  }),
  visits: count("api.stats.people"),
  bots: count("api.stats.programs"),
});

const breakdown = z
  .strictObject({
    values: z.array(
      z.strictObject({
        value: text.nullable().openapi({ description: "api.stats.value" }),
        visits: count("api.stats.of-value"),
      }),
    ),
    other: count("api.stats.other"),
  })
  .openapi("Breakdown");

const nobody = { values: [], other: 0 };
const STATISTICS = {
  code: EXAMPLE.custom_code,
  from: "2026-11-20",
  to: "2026-11-21",
  interval: "day",
  tz: "Asia/Seoul",
  visits: 120,
  bots: 7,
  visitors: 95,
  series: [
    { start: "2026-11-20", visits: 20, bots: 7 },
    { start: "2026-11-21", visits: 100, bots: 0 },
  ],
  ...(Object.fromEntries(DIMENSIONS.map((dimension) => [dimension, nobody])) as Record<
    Dimension,
    typeof nobody
  >),
  referrers: {
    values: [
      { value: "search.naver.com", visits: 80 },
      { value: null, visits: 30 },
    ],
    other: 10,
  },
  countries: { values: [{ value: "KR", visits: 120 }], other: 0 },
};

const statistics = z
  .strictObject({
    code: text.openapi({ description: "api.link.code" }),
    from: text.openapi({ format: "date", description: "api.stats.first" }),
    to: text.openapi({ format: "date", description: "api.stats.last" }),
    interval: z.enum(INTERVALS).openapi({ description: "api.stats.asked" }),
    tz: text.openapi({ description: "api.stats.asked" }),
    visits: count("api.stats.visits"),
    bots: count("api.stats.bots"),
    visitors: count("api.stats.visitors"),
    series: z.array(point),
    ...(Object.fromEntries(DIMENSIONS.map((dimension) => [dimension, breakdown])) as Record<
      Dimension,
      typeof breakdown
    >),
  })
  .openapi("Statistics", { example: STATISTICS });

const codeParameter = z.object({
  code: text.openapi({
    param: { name: "code", in: "path" },
    description: "api.code",
    example: EXAMPLE.custom_code,
  }),
});

/** A date of the calendar, such as 2026-11-21. */
const date = z.iso.date();
export const statisticsQuery = z.object({
  from: date.optional().openapi({
    description: "api.stats.from",
    example: "2026-11-01",
  }),
  to: date.optional().openapi({ description: "api.stats.to" }),
  interval: z.enum(INTERVALS).default("day").openapi({
    description: "api.stats.interval",
  }),
  tz: z.string().refine(isTimeZone).default("UTC").openapi({
    description: "api.stats.tz",
    example: "Asia/Seoul",
  }),
});

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

export const QR_RANGES = { size: { min: 64, max: 2048 }, margin: { min: 0, max: 16 } } as const;
/** The digits alone, six of them. */
const colour = z
  .string()
  .regex(/^#?(?:[\dA-Fa-f]{3}|[\dA-Fa-f]{6})$/)
  .transform((written) => written.replace("#", ""))
  .transform((digits) => (digits.length === 3 ? digits.replaceAll(/./g, "$&$&") : digits));
const within = ({ min, max }: { min: number; max: number }, fallback: number, description: MessageKey) =>
  z
    .string()
    .regex(/^\d+$/)
    .transform(Number)
    .pipe(z.int().min(min).max(max))
    .default(fallback)
    .openapi({ type: "integer", minimum: min, maximum: max, default: fallback, description });
export const qrQuery = z.object({
  size: within(QR_RANGES.size, 512, "api.qr.size"),
  margin: within(QR_RANGES.margin, 4, "api.qr.margin"),
  dark: colour.default("000000").openapi({ description: "api.qr.dark" }),
  light: colour.default("ffffff").openapi({ description: "api.qr.light" }),
});

const parameter = z.strictObject({
  name: text,
  type: text,
  required: z.boolean(),
  description: text,
  allowed_values: z.array(text).optional(),
  default: text.optional(),
  max_length: z.int().optional(),
});

const information = z
  .strictObject({
    name: text,
    version: text,
    description: text,
    endpoint: text.openapi({ format: "uri" }),
    method: text,
    content_type: text,
    max_body_bytes: z.int(),
    parameters: z.array(parameter),
    example: z.strictObject({
      request: z.strictObject({ original_url: text, custom_code: text, expire_duration: text }),
      response: z.strictObject({ status: z.literal("success"), message: text, data: shortLink }),
    }),
    openapi: text.openapi({ format: "uri" }),
  })
  .openapi("Information");

const problem = z
  .strictObject({ status: z.literal("error"), message: text.openapi({ example: "{taken}" }) })
  .openapi("Problem");

export type ShortLink = z.infer<typeof shortLink>;
export type AvailabilityData = z.infer<typeof availability>;
export type LinkData = z.infer<typeof linkData>;
export type StatisticsData = z.infer<typeof statistics>;
export type Information = z.infer<typeof information>;

const jsonContent = <T extends z.ZodType>(schema: T) => ({ "application/json": { schema } });
const answer = <T extends z.ZodType>(description: MessageKey, schema: T) => ({
  description,
  content: jsonContent(schema),
});
const unavailable = {
  503: {
    ...answer("api.unavailable", problem),
    headers: z.object({ "Retry-After": text.openapi({ description: "api.retry-after" }) }),
  },
};

const image = (type: string) => ({
  request: { params: codeParameter, query: qrQuery },
  responses: {
    200: {
      description: "api.qr.answer",
      content: { [type]: { schema: text.openapi({ format: "binary" }) } },
    },
    400: answer("api.parameter.refused", problem),
    404: answer("unknown", problem),
    410: answer("api.qr.ended", problem),
    ...unavailable,
  },
});

/** The operations as the OpenAPI document tells them. */
export const operations = {
  shorten: createRoute({
    method: "post",
    path: "/api/v1/shorten",
    operationId: "shorten",
    summary: "api.shorten",
    request: {
      body: {
        required: true,
        // Without a code: it would be in use as soon as one reader has sent the example.
        content: { "application/json": { schema: shortenRequest, example: EXAMPLE_BODY } },
      },
    },
    responses: {
      201: {
        ...answer("api.made", success("shortened", shortLink)),
        headers: z.object({ Location: text.openapi({ description: "api.location" }) }),
      },
      400: answer("api.body.refused", problem),
      409: answer("api.taken", problem),
      413: answer("api.body.too-large", problem),
      415: answer("api.body.type", problem),
      ...unavailable,
    },
  }),
  information: createRoute({
    method: "get",
    path: "/api/v1/shorten",
    operationId: "information",
    summary: "api.information",
    responses: { 200: answer("api.information.answer", success("info", information)) },
  }),
  availability: createRoute({
    method: "get",
    path: "/api/v1/codes/{code}",
    operationId: "availability",
    summary: "api.availability",
    description: "api.availability.description",
    request: { params: codeParameter },
    responses: {
      200: answer("api.availability.answer", success("free", availability)),
      400: answer("api.availability.refused", problem),
      ...unavailable,
    },
  }),
  link: createRoute({
    method: "get",
    path: "/api/v1/links/{code}",
    operationId: "link",
    summary: "api.link",
    description: "api.link.description",
    request: { params: codeParameter },
    responses: {
      200: answer("link", success("link", linkData)),
      404: answer("unknown", problem),
      ...unavailable,
    },
  }),
  statistics: createRoute({
    method: "get",
    path: "/api/v1/links/{code}/stats",
    operationId: "statistics",
    summary: "api.stats",
    request: { params: codeParameter, query: statisticsQuery },
    responses: {
      200: answer("api.stats.answer", success("statistics", statistics)),
      400: answer("api.parameter.refused", problem),
      404: answer("unknown", problem),
      ...unavailable,
    },
  }),
  qrSvg: createRoute({
    method: "get",
    path: "/{code}.svg",
    operationId: "qrSvg",
    summary: "api.qr.svg",
    ...image("image/svg+xml"),
  }),
  qrPng: createRoute({
    method: "get",
    path: "/{code}.png",
    operationId: "qrPng",
    summary: "api.qr.png",
    ...image("image/png"),
  }),
  document: createRoute({
    method: "get",
    path: "/api/v1/openapi.json",
    operationId: "document",
    summary: "api.document",
    responses: {
      200: { description: "api.document.answer", content: jsonContent(z.looseObject({ openapi: text })) },
    },
  }),
};
