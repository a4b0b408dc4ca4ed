import type { StatisticsRequest } from "../clicks/statistics.ts";
import type { RequestFault } from "./problems.ts";
import { statisticsQuery } from "./schemas.ts";

/** With its question mark; empty where there is none. */
export function queryOf({ url }: Request): string {
  return /\?[^#]*/.exec(url)?.[0] ?? "";
}

/** Of a parameter that is there twice, the last one counts; an empty one is as good as none. */
export function readStatisticsQuery(request: Request): StatisticsRequest | RequestFault[] {
  const given = Object.fromEntries([...new URLSearchParams(queryOf(request))].filter(([, value]) => value));
  const query = statisticsQuery.safeParse(given);
  if (!query.success) {
    const fields = new Set(query.error.issues.map(({ path }) => String(path[0])));
    return [...fields].map((field) => queryFault(field, given[field] ?? ""));
  }
  const { tz, ...rest } = query.data;
  return { ...rest, timeZone: tz };
}

/** The zone that `tz` names; UTC where it names none. */
export function readTimeZone(request: Request): string {
  const zone = statisticsQuery.shape.tz.safeParse(new URLSearchParams(queryOf(request)).get("tz") ?? "");
  return zone.success ? zone.data : "UTC";
}

function queryFault(field: string, received: string): RequestFault {
  switch (field) {
    case "interval":
      return {
        rule: "field.values",
        field,
        values: statisticsQuery.shape.interval.unwrap().options.join(", "),
      };
    case "tz":
      return { rule: "query.zone", field, received: JSON.stringify(received.slice(0, 64)) };
    default:
      return { rule: "query.date", field, example: "2026-11-21" };
  }
}
