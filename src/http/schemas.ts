import { createRoute, z } from "@hono/zod-openapi";

import { HOURS_KEPT_DAYS } from "../clicks/ageing.ts";
import { DIMENSIONS, type Dimension, FEWEST_VISITORS } from "../clicks/day.ts";
import { INTERVALS, MAX_RANGE_DAYS } from "../clicks/statistics.ts";
import { message } from "../language/language.ts";
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

/** Types only: the rules for codes and URLs are the domain's. */
export const shortenRequest = z
  .object({
    original_url: z.string().openapi({
      description: message("en", "info.original_url"),
      format: "uri",
      maxLength: MAX_TARGET_LENGTH,
      example: EXAMPLE.original_url,
    }),
    custom_code: z
      .string()
      .nullish()
      .openapi({
        description: message("en", "info.custom_code"),
        maxLength: MAX_CODE_POINTS,
        example: EXAMPLE.custom_code,
      }),
    expire_duration: z
      .enum(DURATIONS)
      .nullish()
      .openapi({
        description: message("en", "info.expire_duration"),
        example: EXAMPLE.expire_duration,
      }),
  })
  .openapi("ShortenRequest");

const text = z.string();
const count = (description: string) => z.int().nonnegative().openapi({ description });
const success = <T extends z.ZodType>(data: T) =>
  z.strictObject({ status: z.literal("success"), message: text, data });

const shortLink = z
  .strictObject({
    short_url: text.openapi({ format: "iri", example: "https://curt.example/한글/" }),
    original_url: text.openapi({ description: "Exactly as sent.", example: EXAMPLE.original_url }),
    code: text.openapi({ example: EXAMPLE.custom_code }),
    expiration_date: text.openapi({
      format: "date-time",
      description: "The link ends at this instant; 9999-12-31T23:59:59.999Z for one without an end.",
    }),
  })
  .openapi("ShortLink");

const instant = (description: string) => text.openapi({ format: "date-time", description });

const linkData = z
  .strictObject({
    code: text.openapi({ description: "As stored: in NFC, without U+FE0F.", example: EXAMPLE.custom_code }),
    short_url: text.openapi({ format: "iri", example: "https://curt.example/한글/" }),
    original_url: text.openapi({ example: EXAMPLE.original_url }),
    created: instant("When the link was made."),
    expiration_date: instant("The link ends, or ended, at this instant."),
    visits: count("Visits by people since the link was made, counted within a second or two."),
  })
  .openapi("Link");

const availability = z
  .strictObject({
    code: text.openapi({ description: "As stored: in NFC, without U+FE0F.", example: EXAMPLE.custom_code }),
    available: z.boolean().openapi({ description: "Whether a link can be made with this code now." }),
    short_url: text.openapi({
      format: "iri",
      description: "The short address of a link with this code, spelled as asked.",
      example: "https://curt.example/한글/",
    }),
  })
  .openapi("Availability");

const point = z.strictObject({
  start: text.openapi({
    description: "A timestamp, a date or a month, by `interval`.",
    example: "2026-11-21",
  }),
  visits: count("By people."),
  bots: count("By programs: crawlers, link previews, browsers that fetch ahead."),
});

const breakdown = z
  .strictObject({
    values: z.array(
      z.strictObject({
        value: text.nullable().openapi({ description: "null: the visits did not tell." }),
        visits: count("Of this value."),
      }),
    ),
    other: count(
      `Visits of all other values, and of those that fewer than ${FEWEST_VISITORS} visitors share.`,
    ),
  })
  .openapi("Breakdown");

const statistics = z
  .strictObject({
    code: text,
    from: text.openapi({ format: "date" }),
    to: text.openapi({ format: "date" }),
    interval: z.enum(INTERVALS),
    tz: text,
    visits: count("By people, in the range."),
    bots: count("By programs, in the range."),
    visitors: count("About how many people: those of each day (UTC), added up."),
    series: z.array(point),
    ...(Object.fromEntries(DIMENSIONS.map((dimension) => [dimension, breakdown])) as Record<
      Dimension,
      typeof breakdown
    >),
  })
  .openapi("Statistics");

const codeParameter = z.object({
  code: text.openapi({ param: { name: "code", in: "path" }, example: EXAMPLE.custom_code }),
});

/** A date of the calendar, such as 2026-11-21. */
const date = z.iso.date();
export const statisticsQuery = z.object({
  from: date.optional().openapi({
    description: "First day. When omitted: 30 days up to `to`; 2 of hours, 365 of months.",
    example: "2026-11-01",
  }),
  to: date.optional().openapi({ description: "Last day, included. Today when omitted." }),
  interval: z
    .enum(INTERVALS)
    .default("day")
    .openapi({
      description: `Hours are told for the last ${HOURS_KEPT_DAYS} days; at most ${MAX_RANGE_DAYS} days at once.`,
    }),
  tz: z.string().refine(isTimeZone).default("UTC").openapi({
    description: "Time zone (IANA) of the dates and of the series.",
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
const within = ({ min, max }: { min: number; max: number }, fallback: number, description: string) =>
  z
    .string()
    .regex(/^\d+$/)
    .transform(Number)
    .pipe(z.int().min(min).max(max))
    .default(fallback)
    .openapi({ type: "integer", minimum: min, maximum: max, default: fallback, description });
export const qrQuery = z.object({
  size: within(QR_RANGES.size, 512, "Width and height, in pixels."),
  margin: within(QR_RANGES.margin, 4, "In modules; ISO/IEC 18004 asks for 4."),
  dark: colour.default("000000").openapi({ description: "Colour: RGB or RRGGBB, in hexadecimal digits." }),
  light: colour
    .default("ffffff")
    .openapi({ description: "Likewise. Scanners need a contrast of 3:1 at least." }),
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

const problem = z.strictObject({ status: z.literal("error"), message: text }).openapi("Problem");

export type ShortLink = z.infer<typeof shortLink>;
export type AvailabilityData = z.infer<typeof availability>;
export type LinkData = z.infer<typeof linkData>;
export type StatisticsData = z.infer<typeof statistics>;
export type Information = z.infer<typeof information>;

const jsonContent = <T extends z.ZodType>(schema: T) => ({ "application/json": { schema } });
const answer = <T extends z.ZodType>(description: string, schema: T) => ({
  description,
  content: jsonContent(schema),
});
const unavailable = {
  503: {
    ...answer("The store cannot answer right now.", problem),
    headers: z.object({ "Retry-After": text.openapi({ description: "Seconds to wait." }) }),
  },
};

const image = (type: string) => ({
  request: { params: codeParameter, query: qrQuery },
  responses: {
    200: {
      description: "The QR code of the short address.",
      content: { [type]: { schema: text.openapi({ format: "binary" }) } },
    },
    400: answer("A parameter is refused; the message names it and the rule.", problem),
    404: answer("There is no link with this code.", problem),
    410: answer("The link has ended.", problem),
    ...unavailable,
  },
});

/** The operations as the OpenAPI document tells them. */
export const operations = {
  shorten: createRoute({
    method: "post",
    path: "/api/v1/shorten",
    operationId: "shorten",
    summary: "Shorten a URL",
    request: { body: { required: true, content: jsonContent(shortenRequest) } },
    responses: {
      201: {
        ...answer("The link is made, and durable.", success(shortLink)),
        headers: z.object({ Location: text.openapi({ description: "The short address in ASCII." }) }),
      },
      400: answer("The body or a value in it is refused; the message names the field and the rule.", problem),
      409: answer("The code is already in use.", problem),
      413: answer(`The body has more than ${MAX_BODY_BYTES} bytes.`, problem),
      415: answer("The body is not declared as JSON.", problem),
      ...unavailable,
    },
  }),
  information: createRoute({
    method: "get",
    path: "/api/v1/shorten",
    operationId: "information",
    summary: "What the endpoint takes and answers",
    responses: { 200: answer("The endpoint and its parameters.", success(information)) },
  }),
  availability: createRoute({
    method: "get",
    path: "/api/v1/codes/{code}",
    operationId: "availability",
    summary: "Whether a code is free",
    description:
      "A hint: only making the link decides. The code of an ended link is not free while it is held.",
    request: { params: codeParameter },
    responses: {
      200: answer("The code can be one, and is free or in use.", success(availability)),
      400: answer("The code would be refused; the message says why.", problem),
      ...unavailable,
    },
  }),
  link: createRoute({
    method: "get",
    path: "/api/v1/links/{code}",
    operationId: "link",
    summary: "What a link is",
    description: "Also of a link that has ended, for as long as its code is held.",
    request: { params: codeParameter },
    responses: {
      200: answer("The link.", success(linkData)),
      404: answer("There is no link with this code.", problem),
      ...unavailable,
    },
  }),
  statistics: createRoute({
    method: "get",
    path: "/api/v1/links/{code}/stats",
    operationId: "statistics",
    summary: "The visits of a link",
    request: { params: codeParameter, query: statisticsQuery },
    responses: {
      200: answer("Visits in the range.", success(statistics)),
      400: answer("A parameter is refused; the message names it and the rule.", problem),
      404: answer("There is no link with this code.", problem),
      ...unavailable,
    },
  }),
  qrSvg: createRoute({
    method: "get",
    path: "/{code}.svg",
    operationId: "qrSvg",
    summary: "The QR code of a short address, as SVG",
    ...image("image/svg+xml"),
  }),
  qrPng: createRoute({
    method: "get",
    path: "/{code}.png",
    operationId: "qrPng",
    summary: "The QR code of a short address, as PNG",
    ...image("image/png"),
  }),
  document: createRoute({
    method: "get",
    path: "/api/v1/openapi.json",
    operationId: "document",
    summary: "This document",
    responses: {
      200: { description: "OpenAPI 3.1", content: jsonContent(z.looseObject({ openapi: text })) },
    },
  }),
};
