import type { z } from "@hono/zod-openapi";

import { contrast } from "../../lib/contrast.ts";
import { isProblem } from "../../links/problem.ts";
import { ERROR_CORRECTIONS, MIN_CONTRAST, type QrStyle } from "../../pages/qr/qr-style.ts";
import { INTERVALS, type StatisticsRequest } from "../../visits/statistics/statistics.ts";
import { type Malformed, malformed, type RequestRefusal } from "../problems.ts";
import { queryOf } from "../url.ts";
import { BOOLEANS, FORMATS, QR_RANGES, qrQuery, statisticsQuery } from "./schemas.ts";

export interface StatisticsQuery {
  readonly range: StatisticsRequest;
  readonly format: (typeof FORMATS)[number];
  readonly isDownload: boolean;
}

export function readStatisticsQuery(request: Request): StatisticsQuery | Malformed {
  const query = readQuery(request, statisticsQuery);
  if (isProblem(query)) return query;
  const { tz, format = "json", download, ...range } = query;
  return { range: { ...range, timeZone: tz }, format, isDownload: download === "true" };
}

/** The zone that `tz` names; UTC where it names none. */
export function readTimeZone(request: Request): string {
  const zone = statisticsQuery.shape.tz.safeParse(new URLSearchParams(queryOf(request)).get("tz") ?? "");
  return zone.success ? zone.data : "UTC";
}

export function readQrQuery(request: Request): QrStyle | Malformed {
  const { style, problem } = readQrStyle(request);
  return problem ?? style;
}

/** What can be drawn of a query, with the defaults in the place of what is refused; and why that is. */
export function readQrStyle(request: Request): { style: QrStyle; problem?: Malformed } {
  const given = parametersOf(request);
  const query = qrQuery.safeParse(given);
  if (query.success) {
    const style = query.data;
    if (contrast(style.dark, style.light) >= MIN_CONTRAST) return { style };
    return { style, problem: malformed({ rule: "qr.contrast", min: MIN_CONTRAST }) };
  }
  const refused = refusedFields(query.error);
  const accepted = Object.entries(given).filter(([name]) => !refused.includes(name));
  return { style: qrQuery.parse(Object.fromEntries(accepted)), problem: refusalOf(refused, given) };
}

function readQuery<T>(request: Request, schema: z.ZodType<T>): T | Malformed {
  const given = parametersOf(request);
  const query = schema.safeParse(given);
  return query.success ? query.data : refusalOf(refusedFields(query.error), given);
}

type Parameters = Readonly<Record<string, string>>;

/** Of a parameter that is there twice, the last one counts; an empty one is as good as none. */
function parametersOf(request: Request): Parameters {
  return Object.fromEntries([...new URLSearchParams(queryOf(request))].filter(([, value]) => value));
}

function refusedFields({ issues }: z.ZodError): string[] {
  return [...new Set(issues.map(({ path }) => String(path[0])))];
}

function refusalOf(fields: readonly string[], given: Parameters): Malformed {
  return { kind: "malformed", refusals: fields.map((field) => queryRefusal(field, given[field] ?? "")) };
}

function queryRefusal(field: string, received: string): RequestRefusal {
  switch (field) {
    case "interval":
      return {
        rule: "field.values",
        field,
        values: INTERVALS.join(", "),
      };
    case "format":
      return { rule: "field.values", field, values: FORMATS.join(", ") };
    case "download":
      return { rule: "field.values", field, values: BOOLEANS.join(", ") };
    case "tz":
      return { rule: "query.zone", field, received: JSON.stringify(received.slice(0, 64)) };
    case "ecc":
      return { rule: "field.values", field, values: ERROR_CORRECTIONS.join(", ") };
    case "size":
    case "margin":
      return { rule: "query.range", field, ...QR_RANGES[field] };
    case "dark":
    case "light":
      return { rule: "query.colour", field, example: "1a7f5a" };
    default:
      return { rule: "query.date", field, example: "2026-11-21" };
  }
}
