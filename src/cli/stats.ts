import type { Statistics } from "../../client/types.ts";
import { escapeLine } from "../lib/log.ts";
import { readShortAddress } from "../links/short-address.ts";
import type { Arguments, Environment } from "./command.ts";
import { sendRequests, instanceOf, isOf } from "./instance-request.ts";
import { columns, fail, plural, print, printJson } from "./terminal/print.ts";

const DEFAULT_DAYS = 30;
/** The limit of the API. */
const MAX_DAYS = 400;
/** Up to this many days are shown by the hour. */
const HOURLY_DAYS = 2;
const CHART_ROWS = 8;
/** In a breakdown. */
const SHOWN_VALUES = 5;

/** Shows the visits of a link; returns the exit code. */
export async function stats(environment: Environment, { positionals, options }: Arguments): Promise<number> {
  const link = readShortAddress(positionals[0] ?? "");
  const days = Number(options["days"] ?? DEFAULT_DAYS);
  if (link === undefined) return fail(`${positionals[0]} is neither a code nor a short address`, 2);
  if (!Number.isInteger(days) || days < 1 || days > MAX_DAYS)
    return fail(`--days must be a whole number from 1 to ${MAX_DAYS}`, 2);
  const instance = instanceOf(environment, link.origin);
  if (instance === undefined) return 2;
  return sendRequests(
    environment,
    async (client) => {
      const current = await client.links.get(link.code);
      if (!isOf(current, link, instance)) return fail(`${instance.baseUrl} has no link ${positionals[0]}`);
      const statistics = await client.links.statistics(link.code, lastDays(days));
      if (options["json"] === true) {
        printJson(statistics);
        return 0;
      }
      if (!areCounts([statistics, current])) return fail(`${instance.baseUrl} sent counts below zero`);
      for (const line of draw(statistics, current.visits)) print(escapeLine(line));
      return 0;
    },
    link.origin,
  );
}

/** Whether a chart can show all numbers in a response. */
function areCounts(value: unknown): boolean {
  if (typeof value === "number") return Number.isSafeInteger(value) && value >= 0;
  return typeof value !== "object" || value === null || Object.values(value).every(areCounts);
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
  const width = columns();
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
  const top = values.slice(0, SHOWN_VALUES);
  const rest = values.slice(SHOWN_VALUES).reduce((sum, { visits }) => sum + visits, other);
  const rows = top.map(({ value, visits }) => ({
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

const EIGHTHS = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
const MAX_BAR_WIDTH = 4;

export interface ChartSize {
  /** In characters. */
  readonly width: number;
  readonly height: number;
}

/** A bar for each value, or for the sum of several if there are more than fit. All bars together have the height. */
export function bars(values: readonly number[], { width, height }: ChartSize): string[] {
  const share = Math.max(1, Math.ceil(values.length / width));
  const sums: number[] = [];
  for (let at = 0; at < values.length; at += share)
    sums.push(values.slice(at, at + share).reduce((sum, value) => sum + value, 0));
  const place = Math.min(MAX_BAR_WIDTH, Math.max(1, Math.floor(width / Math.max(1, sums.length))));
  const barWidth = Math.max(1, place - 1);
  const most = Math.max(1, ...sums);
  const label = most.toLocaleString("en");
  return Array.from({ length: height }, (_, row) => {
    const below = (height - 1 - row) * 8;
    const blocks = sums.map((sum) => {
      // Values above zero stay visible.
      const eighths = sum === 0 ? 0 : Math.max(1, Math.round((sum / most) * height * 8));
      const block = EIGHTHS[Math.min(8, Math.max(0, eighths - below))] ?? " ";
      return block.repeat(barWidth).padEnd(place);
    });
    const side = row === 0 ? label : row === height - 1 ? "0" : "";
    return `${side.padStart(label.length)} │${blocks.join("")}`.trimEnd();
  });
}

/** How much of the width a value takes, in eighths of a character. */
export function bar(value: number, most: number, width: number): string {
  const eighths = value === 0 ? 0 : Math.max(1, Math.round((value / most) * width * 8));
  const rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8] ?? "";
  return "█".repeat(Math.floor(eighths / 8)) + rest;
}
