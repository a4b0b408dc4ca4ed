import type { SourceItem } from "../source.ts";

/** Why a row is not taken. The same text for all rows with the same mistake. */
export class BadRow extends Error {
  override readonly name = "BadRow";
}

/** The item, or a refused row if `read` throws {@link BadRow}. */
export function readRow(place: string, code: unknown, read: () => SourceItem): SourceItem {
  try {
    const item = read();
    if (item.kind === "link" && `${item.code}${item.url}`.includes("\uFFFD"))
      throw new BadRow("its code or URL is no UTF-8");
    return item;
  } catch (error) {
    if (!(error instanceof BadRow)) throw error;
    return {
      kind: "refused",
      place,
      code: typeof code === "string" || typeof code === "number" ? String(code) : "",
      reason: error.message,
    };
  }
}

export function text(value: unknown, name: string): string {
  if (typeof value !== "string" || value === "") throw new BadRow(`it has no ${name}`);
  return value;
}

export function count(value: unknown): number | undefined {
  if (isNothing(value)) return undefined;
  const number = typeof value === "number" ? value : /^\d{1,15}$/.test(String(value)) ? Number(value) : -1;
  if (!Number.isSafeInteger(number) || number < 0) throw new BadRow("its number of visits is no number");
  return number;
}

const INSTANT =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?\s?(?:Z|UTC|([+-])(\d\d)(?::?(\d\d))?)?$/;
/** Unix time from here on is in milliseconds (1978), before in seconds (9999, which some write for never). */
const MIN_MS = 253_402_300_800;

/** Reads ISO 8601, what databases write, and Unix time. Without a time zone it is UTC. Undefined for nothing and zero. */
export function instant(value: unknown): number | undefined {
  if (isNothing(value) || /^(?:0|0000-00-00.*)$/.test(String(value))) return undefined;
  if (/^\d{9,14}(?:\.\d+)?$/.test(String(value))) {
    const number = Number(value);
    return Math.floor(number < MIN_MS ? number * 1000 : number);
  }
  const [match, year, month, day, hour = "0", minute = "0", second = "0", fraction = "", sign, ...offset] =
    INSTANT.exec(String(value).trim()) ?? [];
  const ms = match === undefined ? Number.NaN : Date.UTC(Number(year), Number(month) - 1, Number(day));
  // A month or a day that does not exist, and a year before 100, become another date.
  const isReal = match !== undefined && dayText(ms) === `${year}-${month}-${day}`;
  const [offsetHours = "0", offsetMinutes = "0"] = offset;
  const isTime = [hour, offsetHours].every((one) => Number(one) < 24);
  if (!isReal || !isTime || [minute, second, offsetMinutes].some((one) => Number(one) > 59))
    throw new BadRow("one of its dates cannot be read. Dates look like 2026-11-22T10:00:00Z");
  const offsetMs = (Number(offsetHours) * 60 + Number(offsetMinutes)) * 60_000 * (sign === "-" ? -1 : 1);
  const timeMs = ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000;
  return ms + timeMs + Number(fraction.padEnd(3, "0").slice(0, 3)) - offsetMs;
}

/** Unix time in seconds, for sources that write nothing else. Undefined for nothing and zero. */
export function unixSeconds(value: unknown): number | undefined {
  if (isNothing(value) || value === 0) return undefined;
  if (typeof value !== "number" || !Number.isFinite(value))
    throw new BadRow("one of its dates is no Unix time in seconds");
  return Math.floor(value * 1000);
}

function dayText(ms: number): string | undefined {
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString().slice(0, 10);
}

/** For visits. Day 0 is for those without a date. */
export function dayOf(value: unknown, dayMs: number): number {
  return Math.max(0, Math.floor((instant(value) ?? 0) / dayMs));
}

function isNothing(value: unknown): boolean {
  return value === null || value === undefined || value === "";
}

/** A short address, with or without https:// before it. */
export function address(value: unknown): { readonly domain: string; readonly code: string } {
  const written = text(value, "short address");
  const url = URL.parse(/^[a-z]+:\/\//i.test(written) ? written : `https://${written}`);
  try {
    if (url !== null) return { domain: url.host, code: decodeURIComponent(url.pathname.slice(1)) };
  } catch {
    // It has a percent sign that escapes nothing.
  }
  throw new BadRow("its short address cannot be read");
}
