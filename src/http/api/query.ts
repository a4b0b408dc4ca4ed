import type { z } from "@hono/zod-openapi";

import { contrast } from "../../contrast.ts";
import { isProblem } from "../../links/problem.ts";
import type { QrStyle } from "../../pages/qr.ts";
import { INTERVALS, type StatisticsRequest } from "../../visits/statistics.ts";
import { type Malformed, malformed, type RequestRefusal } from "../problems.ts";
import { queryOf } from "../url.ts";
import { BOOLEANS, FORMATS, QR_RANGES, qrQuery, statisticsQuery } from "./schemas.ts";

/** WCAG 2.2, section 1.4.11: what graphics need to be told from their background. */
const MIN_CONTRAST = 3;

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
  const style = readQuery(request, qrQuery);
  if (isProblem(style) || contrast(style.dark, style.light) >= MIN_CONTRAST) return style;
  return malformed({ rule: "qr.contrast", min: MIN_CONTRAST });
}

/** Of a parameter that is there twice, the last one counts; an empty one is as good as none. */
function readQuery<T>(request: Request, schema: z.ZodType<T>): T | Malformed {
  const given = Object.fromEntries([...new URLSearchParams(queryOf(request))].filter(([, value]) => value));
  const query = schema.safeParse(given);
  if (query.success) return query.data;
  const fields = new Set(query.error.issues.map(({ path }) => String(path[0])));
  return {
    kind: "malformed",
    refusals: [...fields].map((field) => queryRefusal(field, given[field] ?? "")),
  };
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
