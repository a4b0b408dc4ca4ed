import { DIMENSIONS } from "../../visits/dimensions.ts";
import type { StatisticsData } from "./schemas.ts";

const HEADER = ["dimension", "value", "visits", "bots"];
/** In brackets, which no real value has. */
const UNKNOWN = "(unknown)";
const OTHER = "(other)";

/** RFC 4180. Rows of the series, whose dimension is the interval, and then of the breakdowns, which do not tell bots. */
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
 * Referrers are written by visitors, and a spreadsheet takes what begins like a formula for one. An apostrophe before it
 * says that it is text (OWASP, "CSV Injection").
 */
function writeCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
