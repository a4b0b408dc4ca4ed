import type { DetachedCall } from "../http/call.ts";
import { viewEndpoint } from "../http/endpoint.ts";
import { problemJson } from "../http/problems.ts";
import { csv, fileName, tagged, tagOf } from "../http/responses.ts";
import { header } from "../lib/bounds.ts";
import { memoize } from "../lib/memoize.ts";
import { shownCode } from "../links/link.ts";
import { isProblem } from "../links/problem.ts";
import { negotiateLanguage } from "../locales/messages.ts";
import { type Dimension, DIMENSIONS } from "../visits/days/dimensions.ts";
import { INTERVALS } from "../visits/statistics/series.ts";
import type { ApiViewParts } from "./api-parts.ts";
import { envelope, success } from "./envelope.ts";
import { type CheckedCaller, findForView, showForMaker } from "./manage-key.ts";
import {
  codeParameter,
  count,
  type Entry,
  EXAMPLE,
  failure,
  jsonContent,
  KEY_HELPS,
  linkFailures,
  rateLimit,
  reference,
  refusal,
  string,
} from "./openapi/components.ts";
import { z } from "./openapi/schema.ts";
import { oneOf, readQuery } from "./query.ts";

const FORMATS = ["json", "csv"] as const;
const BOOLEANS = ["true", "false"] as const;
const intervalField = reference(z.enum(INTERVALS).openapi("Interval"));

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
const statisticsQuery = z.object({
  from: date.optional().openapi({ description: "api.stats.from", example: "2026-11-01" }),
  to: date.optional().openapi({ description: "api.stats.to" }),
  interval: intervalField.default("day").openapi({ description: "api.stats.interval" }),
  tz: z.string().refine(isTimeZone).default("UTC").openapi({
    description: "api.stats.tz",
    example: "Asia/Seoul",
  }),
  format: z.enum(FORMATS).optional().openapi({ description: "api.stats.format" }),
  download: z.enum(BOOLEANS).default("false").openapi({ description: "api.stats.download" }),
});

const badDate = (field: string) => ({ rule: "query.date" as const, field, example: "2026-11-21" });
/** Also for pages, which take the same time zones. */
export const readStatisticsQuery = (request: Request) =>
  readQuery(request, statisticsQuery, {
    from: badDate,
    to: badDate,
    interval: oneOf(INTERVALS),
    tz: (field, received) => ({ rule: "query.zone", field, received: JSON.stringify(received.slice(0, 64)) }),
    format: oneOf(FORMATS),
    download: oneOf(BOOLEANS),
  });

const point = z
  .object({
    start: string.openapi({ description: "api.stats.start", example: "2026-11-21" }),
    visits: count("api.stats.people"),
    bots: count("api.stats.programs"),
  })
  .openapi("SeriesPoint");

const breakdown = z
  .object({
    values: z.array(
      z
        .object({
          value: string.nullable().openapi({ description: "api.stats.value" }),
          visits: count("api.stats.of-value"),
        })
        .openapi("BreakdownValue"),
    ),
    other: count("api.stats.other"),
  })
  .openapi("Breakdown");

const perDimension = <T>(value: T) =>
  Object.fromEntries(DIMENSIONS.map((dimension) => [dimension, value])) as Record<Dimension, T>;

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
  ...perDimension({ values: [], other: 0 }),
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
    code: string.openapi({ description: "api.link.code" }),
    from: string.openapi({ format: "date", description: "api.stats.first" }),
    to: string.openapi({ format: "date", description: "api.stats.last" }),
    interval: intervalField.openapi({ description: "api.stats.asked" }),
    tz: string.openapi({ description: "api.stats.asked" }),
    visits: count("api.stats.visits"),
    bots: count("api.stats.bots"),
    visitors: count("api.stats.visitors").nullable(),
    series: z.array(point),
    ...perDimension(breakdown),
  })
  .openapi("Statistics", { example: STATISTICS });
/** @internal */
export type StatisticsData = z.infer<typeof statistics>;

export const getStatistics = viewEndpoint({
  at: "GET /api/v1/links/{code}/stats",
  cost: "work",
  entry: {
    tags: ["Statistics"],
    operationId: "getStatistics",
    summary: "api.stats",
    description: "api.stats.description",
    security: KEY_HELPS,
    request: { params: codeParameter, query: statisticsQuery },
    responses: {
      200: {
        description: "api.stats.answer",
        headers: z.object(rateLimit),
        content: {
          ...jsonContent(envelope("statistics", statistics).openapi("StatisticsResponse")),
          "text/csv": { schema: string, example: "dimension,value,visits,bots\r\nday,2026-11-21,100,0\r\n" },
        },
      },
      400: refusal("api.parameter.refused"),
      403: failure("api.key.wrong"),
      ...linkFailures("api.gone"),
    },
  } satisfies Entry,
  view: {
    parameters: Object.keys(statisticsQuery.shape),
    hasCsv: true,
    isTaggedFirst: true,
    render: showStatistics,
  },
  serve: showForMaker,
});

function showStatistics({ links, visits, version }: ApiViewParts) {
  return async (call: DetachedCall, checked: CheckedCaller | undefined): Promise<Response> => {
    const { query, problem } = readStatisticsQuery(call.request);
    if (problem !== undefined) return problemJson(call, problem);
    const { link, viewer } = await findForView(links, call, checked);
    if (isProblem(link)) return problemJson(call, link);
    const isMaker = viewer === "maker";
    const { tz, format = "json", download, ...days } = query;
    const code = shownCode(link);
    const isDownload = download === "true";
    const range = { ...days, timeZone: tz };
    const revision = await visits.revision(link, range);
    if (isProblem(revision)) return problemJson(call, revision);
    const language = negotiateLanguage(header(call.headers, "accept-language"));
    const ETag = `W/${tagOf([version, link.code, language, revision, isMaker, format, isDownload])}`;
    return tagged(call, ETag, async () => {
      const counts = await visits.statistics(link, range, isMaker ? "maker" : "visitor");
      if (isProblem(counts)) return problemJson(call, counts);
      const { shown: _, week: __, from, to, breakdowns, ...sums } = counts;
      const { interval } = range;
      const json: StatisticsData = { code, from, to, interval, tz, ...sums, ...breakdowns };
      const headers = {
        Vary: `Accept, Accept-Language${isMaker ? ", Authorization" : ""}`,
        ...((isDownload || format === "csv") && {
          "Content-Disposition": fileName("attachment", code, "visits", format),
        }),
      };
      if (format === "csv") return csv(call, statisticsCsv(json), headers);
      return success(call, 200, "statistics", json, headers);
    });
  };
}

const HEADER = ["dimension", "value", "visits", "bots"];
/** In brackets, which no real value has. */
const UNKNOWN = "(unknown)";
const OTHER = "(other)";

/**
 * RFC 4180. Rows of the series, whose dimension is the interval, then of the breakdowns, which don't count bots separately.
 * @internal
 */
export function statisticsCsv({ interval, series, ...data }: StatisticsData): string {
  const ofSeries = series.map(({ start, visits, bots }) => [interval, start, visits, bots]);
  const ofBreakdowns = DIMENSIONS.flatMap((dimension) => {
    const { values, other } = data[dimension];
    const rows = values.map(({ value, visits }) => [dimension, value ?? UNKNOWN, visits, ""]);
    return other === 0 ? rows : [...rows, [dimension, OTHER, other, ""]];
  });
  return [HEADER, ...ofSeries, ...ofBreakdowns].map(writeRow).join("");
}

function writeRow(cells: readonly (string | number)[]): string {
  return `${cells.map((cell) => writeCell(String(cell))).join(",")}\r\n`;
}

/**
 * Visitors write referrers, and a spreadsheet runs a cell that starts like a formula. A leading apostrophe marks it as text
 * (OWASP, "CSV Injection").
 */
function writeCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
