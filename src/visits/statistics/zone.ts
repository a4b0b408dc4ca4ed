import { memoize } from "../../lib/memoize.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../links/time.ts";

/** A time zone between two changes of its clocks. */
interface Span {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly offsetMs: number;
  /** "+09:00", as in timestamps. */
  readonly offset: string;
}

export interface Zone {
  /** "2026-11-21T13:00:00+09:00", to the minute. */
  write(ms: number): string;
  /** The local date, in days since 1970-01-01. */
  dayOf(ms: number): number;
  /** The local hour, in hours since 1970-01-01, that has the instant. */
  hourOf(ms: number): number;
}

/** The statistics of a year need three. There are about 16,000 until 9999. */
const MAX_SPANS = 64;

/**
 * Statistics convert up to 10,000 hours. A call of `Temporal` takes microseconds, so there is only one for each span
 * between two changes of the zone's clocks. `timeZone` is a name that `Intl` knows.
 */
export const openZone = memoize((timeZone): Zone => {
  let spans: Span[] = [];
  let last: Span = { fromMs: 0, untilMs: 0, offsetMs: 0, offset: "" };

  function findSpan(fromMs: number): Span {
    const then = Temporal.Instant.fromEpochMilliseconds(fromMs).toZonedDateTimeISO(timeZone);
    // Some zones had seconds before 1972. Timestamps can't have them (RFC 3339, section 4.2).
    const minutes = Math.trunc(then.offsetNanoseconds / 1e6 / MINUTE_MS);
    const untilMs = then.getTimeZoneTransition("next")?.epochMilliseconds ?? Number.POSITIVE_INFINITY;
    const offset = (minutes < 0 ? "-" : "+") + writeMinutes(Math.abs(minutes));
    const span = { fromMs, untilMs, offsetMs: minutes * MINUTE_MS, offset };
    if (spans.length >= MAX_SPANS) spans = [];
    spans.push(span);
    return span;
  }

  function spanAt(ms: number): Span {
    if (ms < last.fromMs || ms >= last.untilMs)
      last = spans.find(({ fromMs, untilMs }) => ms >= fromMs && ms < untilMs) ?? findSpan(ms);
    return last;
  }

  return {
    write(ms) {
      const { offsetMs, offset } = spanAt(ms);
      const localMs = ms + offsetMs;
      const day = Math.floor(localMs / DAY_MS);
      const minutes = Math.floor((localMs - day * DAY_MS) / MINUTE_MS);
      return `${writeDay(day)}T${writeMinutes(minutes)}:00${offset}`;
    },
    dayOf: (ms) => Math.floor((ms + spanAt(ms).offsetMs) / DAY_MS),
    hourOf: (ms) => Math.floor((ms + spanAt(ms).offsetMs) / HOUR_MS),
  };
});

/** Formats a day since 1970-01-01 as a date. Cached, because formatting takes ten times as long. */
export function writeDay(day: number): string {
  const known = dates.get(day);
  if (known !== undefined) return known;
  const date = new Date(day * DAY_MS).toISOString().slice(0, 10);
  if (dates.size >= MAX_DATES) dates.clear();
  dates.set(day, date);
  return date;
}

const MAX_DATES = 2000;
const dates = new Map<number, string>();

/** "13:30" */
function writeMinutes(minutes: number): string {
  return `${TWO_DIGITS[Math.floor(minutes / 60)]}:${TWO_DIGITS[minutes % 60]}`;
}

const TWO_DIGITS = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, "0"));
