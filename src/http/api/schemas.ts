import { z } from "@hono/zod-openapi";

import { memoize } from "../../lib/memoize.ts";
import { MAX_CODE_POINTS } from "../../links/code.ts";
import { REASONS } from "../../links/link.ts";
import { MAX_TARGET_LENGTH } from "../../links/target.ts";
import { DURATIONS } from "../../links/time.ts";
import type { MessageKey } from "../../locales/messages.ts";
import { MAX_NOTE_LENGTH } from "../../moderation/reports/case.ts";
import { ERROR_CORRECTIONS, MARGINS, SIZES } from "../../pages/qr/qr-style.ts";
import { type Dimension, DIMENSIONS } from "../../visits/dimensions.ts";
import { MIN_SHOWN_VISITS } from "../../visits/statistics/noise.ts";
import { INTERVALS, MAX_DAYS } from "../../visits/statistics/statistics.ts";
import { MAX_BODY_BYTES } from "../body.ts";
import { MAX_BATCH, MAX_BATCH_BYTES } from "./batch.ts";

export const EXAMPLE = {
  original_url: "https://example.com/a/long/address",
  custom_code: "한글",
  expire_duration: "1week",
} as const;

export const REPORT_EXAMPLE = { reason: "phishing", note: "It asks for my bank's password." } as const;

/** Values of the placeholders in the messages that describe the API. */
export const LIMITS = {
  bytes: MAX_BODY_BYTES,
  batch: MAX_BATCH,
  batch_bytes: MAX_BATCH_BYTES,
  days: MAX_DAYS.day,
  hours_days: MAX_DAYS.hour,
  fewest: MIN_SHOWN_VISITS,
};

// Every description is the key of a message; document.ts puts the message there. In an example,
// {base} is this service's address, and any other name in braces a message.

export const text = z.string();
export const instant = (description: MessageKey, example?: string) =>
  text.openapi({ format: "date-time", description, ...(example !== undefined && { example }) });
export const count = (description: MessageKey, example?: number) =>
  z
    .int()
    .nonnegative()
    .openapi({ format: "int64", description, ...(example !== undefined && { example }) });

/** Inside `lazy`, a named schema stays a `$ref` where it is nullable or has another description; else it is copied. */
export const referred = <T extends z.ZodType>(schema: T) => z.lazy(() => schema);
const expireDuration = referred(z.enum(DURATIONS).openapi("ExpireDuration"));
const reason = referred(z.enum(REASONS).openapi("Reason"));
export const disabledReason = referred(z.enum([...REASONS, "blocklist"]).openapi("DisabledReason"));
export const FORMATS = ["json", "csv"] as const;
export const BOOLEANS = ["true", "false"] as const;
const interval = referred(z.enum(INTERVALS).openapi("Interval"));

/**
 * Types only: the rules for codes and URLs are the domain's. It counts lengths after normalisation, so a client that
 * checked a maxLength would refuse what the service takes.
 */
export const shortenRequest = z
  .object({
    original_url: text.openapi({
      description: "info.original_url",
      "x-max-length": MAX_TARGET_LENGTH,
      example: EXAMPLE.original_url,
    }),
    custom_code: text.nullish().openapi({
      description: "info.custom_code",
      "x-max-length": MAX_CODE_POINTS,
      example: EXAMPLE.custom_code,
    }),
    expire_duration: expireDuration.nullish().openapi({
      description: "info.expire_duration",
      example: EXAMPLE.expire_duration,
    }),
  })
  .openapi("ShortenRequest");

export const reportRequest = z
  .object({
    reason: reason.openapi({ description: "api.report.reason", example: REPORT_EXAMPLE.reason }),
    note: text.nullish().openapi({
      description: "api.report.note",
      "x-max-length": MAX_NOTE_LENGTH,
      example: REPORT_EXAMPLE.note,
    }),
  })
  .openapi("ReportRequest");

// The contract fixes the keys of a created link. Other answers may get new keys, so their schemas
// allow them.

export const shortUrl = text.openapi({
  format: "iri",
  description: "api.short.short_url",
  example: `{base}/${EXAMPLE.custom_code}/`,
});

export const shortLink = z
  .strictObject({
    short_url: shortUrl,
    original_url: text.openapi({ description: "api.short.original_url", example: EXAMPLE.original_url }),
    code: text.openapi({ description: "api.short.code", example: EXAMPLE.custom_code }),
    expiration_date: instant("api.short.expiration_date", "2026-01-08T00:00:00.000Z"),
  })
  .openapi("ShortLink");

const availability = z
  .object({
    code: text.openapi({ description: "api.link.code", example: EXAMPLE.custom_code }),
    available: z.boolean().openapi({ example: true, description: "api.availability.available" }),
    free: z.array(text).readonly().openapi({ example: [], description: "api.availability.free" }),
    short_url: text.openapi({
      format: "iri",
      description: "api.availability.short_url",
      example: `{base}/${EXAMPLE.custom_code}/`,
    }),
  })
  .openapi("Availability");

const report = z
  .object({
    code: text.openapi({ description: "api.link.code", example: EXAMPLE.custom_code }),
    reason: reason.openapi({ description: "api.report.given", example: REPORT_EXAMPLE.reason }),
  })
  .openapi("Report");

const point = z
  .object({
    start: text.openapi({ description: "api.stats.start", example: "2026-11-21" }),
    visits: count("api.stats.people"),
    bots: count("api.stats.programs"),
  })
  .openapi("SeriesPoint");

const breakdown = z
  .object({
    values: z.array(
      z
        .object({
          value: text.nullable().openapi({ description: "api.stats.value" }),
          visits: count("api.stats.of-value"),
        })
        .openapi("BreakdownValue"),
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
  .object({
    code: text.openapi({ description: "api.link.code" }),
    from: text.openapi({ format: "date", description: "api.stats.first" }),
    to: text.openapi({ format: "date", description: "api.stats.last" }),
    interval: interval.openapi({ description: "api.stats.asked" }),
    tz: text.openapi({ description: "api.stats.asked" }),
    visits: count("api.stats.visits"),
    bots: count("api.stats.bots"),
    visitors: count("api.stats.visitors").nullable(),
    series: z.array(point),
    ...(Object.fromEntries(DIMENSIONS.map((dimension) => [dimension, breakdown])) as Record<
      Dimension,
      typeof breakdown
    >),
  })
  .openapi("Statistics", { example: STATISTICS });

/** Asking `Intl` takes as long as several redirects. */
const isTimeZone = memoize((name) => {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}, false);

/** A date of the calendar, such as 2026-11-21. */
const date = z.iso.date();
export const statisticsQuery = z.object({
  from: date.optional().openapi({
    description: "api.stats.from",
    example: "2026-11-01",
  }),
  to: date.optional().openapi({ description: "api.stats.to" }),
  interval: interval.default("day").openapi({ description: "api.stats.interval" }),
  tz: z.string().refine(isTimeZone).default("UTC").openapi({
    description: "api.stats.tz",
    example: "Asia/Seoul",
  }),
  format: z.enum(FORMATS).optional().openapi({ description: "api.stats.format" }),
  download: z.enum(BOOLEANS).default("false").openapi({ description: "api.stats.download" }),
});

export const QR_RANGES = { size: SIZES, margin: MARGINS } as const;
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
  ecc: z
    .string()
    .toLowerCase()
    .pipe(z.enum(ERROR_CORRECTIONS))
    .default("q")
    .openapi({ type: "string", enum: [...ERROR_CORRECTIONS], default: "q", description: "api.qr.ecc" }),
});

export const envelope = <T extends z.ZodType>(message: MessageKey, data: T) => ({
  status: z.literal("success"),
  message: text.openapi({ example: `{${message}}` }),
  data,
});

export const shortenResponse = z.strictObject(envelope("shortened", shortLink)).openapi("ShortenResponse");
export const availabilityResponse = z.object(envelope("free", availability)).openapi("AvailabilityResponse");
export const reportResponse = z.object(envelope("reported", report)).openapi("ReportResponse");
export const statisticsResponse = z.object(envelope("statistics", statistics)).openapi("StatisticsResponse");

const parameter = z
  .object({
    name: text,
    type: text,
    required: z.boolean(),
    description: text,
    allowed_values: z.array(text).optional(),
    default: text.optional(),
    max_length: z.int().optional(),
  })
  .openapi("ParameterInformation");

const information = z
  .object({
    name: text,
    version: text,
    description: text,
    endpoint: text.openapi({ format: "uri" }),
    method: text,
    content_type: text,
    max_body_bytes: z.int(),
    parameters: z.array(parameter),
    example: z.object({ request: shortenRequest, response: shortenResponse }).openapi("ShortenExample"),
    openapi: text.openapi({ format: "uri" }),
  })
  .openapi("Information");

export const informationResponse = z.object(envelope("info", information)).openapi("InformationResponse");

export type ShortLink = z.infer<typeof shortLink>;
export type AvailabilityData = z.infer<typeof availability>;
export type ReportData = z.infer<typeof report>;
export type StatisticsData = z.infer<typeof statistics>;
export type Information = z.infer<typeof information>;
