import type { Statistics } from "../../client/client.ts";
import { escapeLine } from "../lib/escape-line.ts";
import type { Arguments, Environment } from "./command.ts";
import { ask } from "./instance-request.ts";
import { bar, bars } from "./terminal/chart.ts";
import { fail, plural, print, printJson } from "./terminal/print.ts";

const DEFAULT_DAYS = 30;
/** What the API tells at once. */
const MAX_DAYS = 400;
/** So few are shown by the hour. */
const HOURLY_DAYS = 2;
const CHART_ROWS = 8;
/** Of values in a breakdown. */
const SHOWN_VALUES = 5;
const PIPE_COLUMNS = 80;

/** Shows the visits of a link; returns the exit code. */
export async function stats(environment: Environment, { positionals, options }: Arguments): Promise<number> {
  const link = readLink(positionals[0] ?? "");
  const days = Number(options["days"] ?? DEFAULT_DAYS);
  if (link === undefined) fail(`${positionals[0]} is neither a code nor a short address`);
  else if (!Number.isInteger(days) || days < 1 || days > MAX_DAYS)
    fail(`--days must be a whole number from 1 to ${MAX_DAYS}`);
  else
    return ask(
      environment,
      async (client) => {
        const statistics = await client.links.statistics(link.code, lastDays(days));
        if (options["json"] === true) {
          printJson(statistics);
          return 0;
        }
        const { visits: total } = await client.links.get(link.code);
        for (const line of draw(statistics, total)) print(escapeLine(line));
        return 0;
      },
      link.origin,
    );
  return 2;
}

/** A code, or a short address as it is shared: with or without scheme, slash, and the + of its preview. */
function readLink(text: string): { readonly code: string; readonly origin?: string } | undefined {
  if (!text.includes("/")) return { code: text };
  try {
    const { origin, pathname } = new URL(/^https?:\/\//i.test(text) ? text : `https://${text}`);
    const code = decodeURIComponent(pathname.split("/")[1] ?? "").replace(/\+.*$/, "");
    return code === "" ? undefined : { code, origin };
  } catch {
    return undefined;
  }
}

function lastDays(days: number) {
  const today = new Date(Date.now());
  const first = new Date(Date.UTC(today.getFullYear(), today.getMonth(), today.getDate() - days + 1));
  return {
    from: first.toISOString().slice(0, 10),
    interval: days <= HOURLY_DAYS ? ("hour" as const) : ("day" as const),
    tz: Intl.DateTimeFormat().resolvedOptions().timeZone,
  };
}

/** Visits of unknown or forgotten days are in no range, only in the total. */
function draw(statistics: Statistics, total: number): string[] {
  const width = process.stdout.columns || PIPE_COLUMNS;
  const { code, from, to, tz, visits, bots, visitors, series } = statistics;
  const counts = [
    plural(visits, "visit"),
    ...(visitors === null ? [] : [plural(visitors, "visitor")]),
    `${inWords(bots)} by bots`,
  ];
  const lines = [
    `${code}: ${plural(total, "visit")} in total`,
    `${from} to ${to} (${tz})`,
    counts.join(", "),
  ];
  const values = series.map((point) => point.visits);
  const label = Math.max(0, ...values).toLocaleString("en").length + 2;
  if (visits > 0 && values.length > 0)
    lines.push("", ...bars(values, { width: width - label, height: CHART_ROWS }));
  return [
    ...lines,
    ...drawBreakdown("Referrers", statistics.referrers, (value) => value, width),
    ...drawBreakdown("Countries", statistics.countries, countryName, width),
  ];
}

function drawBreakdown(
  title: string,
  { values, other }: Statistics["referrers"],
  nameOf: (value: string) => string,
  width: number,
): string[] {
  const shown = values.slice(0, SHOWN_VALUES);
  const rest = values.slice(SHOWN_VALUES).reduce((sum, { visits }) => sum + visits, other);
  const rows = shown.map(({ value, visits }) => ({
    name: value === null ? "unknown" : nameOf(value),
    visits,
  }));
  if (rest > 0) rows.push({ name: "other", visits: rest });
  if (rows.length === 0) return [];
  const most = Math.max(...rows.map(({ visits }) => visits));
  const nameWidth = Math.max(...rows.map(({ name }) => Bun.stringWidth(name)));
  const countWidth = inWords(most).length;
  return [
    "",
    title,
    ...rows.map(({ name, visits }) => {
      const gap = " ".repeat(nameWidth - Bun.stringWidth(name));
      const barWidth = Math.max(1, width - nameWidth - countWidth - 6);
      return `  ${name}${gap}  ${inWords(visits).padStart(countWidth)}  ${bar(visits, most, barWidth)}`;
    }),
  ];
}

function inWords(count: number): string {
  return count.toLocaleString("en");
}

function countryName(code: string): string {
  return /^[A-Z]{2}$/.test(code) ? (new Intl.DisplayNames("en", { type: "region" }).of(code) ?? code) : code;
}
