import { DAY_MS } from "../links/time.ts";

/** A time zone between two changes of its clocks. */
interface Span {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly offsetMs: number;
}

export interface Zone {
  /** "2026-11-21T13:00:00+09:00", to the minute. */
  write(ms: number): string;
  /** The local date, in days since 1970-01-01. */
  dayOf(ms: number): number;
}

const MINUTE_MS = 60_000;

/**
 * Statistics ask about up to 10,000 hours. Asking `Temporal` takes microseconds, so it is asked only once between two
 * changes of the zone's clocks. `timeZone` is a name that `Intl` knows.
 */
export function openZone(timeZone: string): Zone {
  const spans: Span[] = [];
  let last: Span = { fromMs: 0, untilMs: 0, offsetMs: 0 };

  function ask(fromMs: number): Span {
    const then = Temporal.Instant.fromEpochMilliseconds(fromMs).toZonedDateTimeISO(timeZone);
    // Some zones had seconds, before 1972. Timestamps have no room for them (RFC 3339, section 4.2).
    const offsetMs = Math.trunc(then.offsetNanoseconds / 1e6 / MINUTE_MS) * MINUTE_MS;
    const untilMs = then.getTimeZoneTransition("next")?.epochMilliseconds ?? Number.POSITIVE_INFINITY;
    const span = { fromMs, untilMs, offsetMs };
    spans.push(span);
    return span;
  }

  function offsetAt(ms: number): number {
    const isIn = ({ fromMs, untilMs }: Span) => ms >= fromMs && ms < untilMs;
    if (!isIn(last)) last = spans.find(isIn) ?? ask(ms);
    return last.offsetMs;
  }

  return {
    write(ms) {
      const offsetMs = offsetAt(ms);
      return `${new Date(ms + offsetMs).toISOString().slice(0, 16)}:00${writeOffset(offsetMs)}`;
    },
    dayOf: (ms) => Math.floor((ms + offsetAt(ms)) / DAY_MS),
  };
}

/** As timestamps have it: "+09:00". */
function writeOffset(offsetMs: number): string {
  const minutes = Math.abs(offsetMs) / MINUTE_MS;
  const parts = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, "0"));
  return (offsetMs < 0 ? "-" : "+") + parts.join(":");
}
