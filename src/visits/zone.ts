import { DAY_MS } from "../links/time.ts";

interface Offset {
  readonly ms: number;
  /** As timestamps have it: "+09:00". */
  readonly text: string;
}

/**
 * How an instant is written in a time zone: "2026-11-21T13:00:00+09:00". Asking `Intl` takes microseconds, and
 * statistics may have 10,000 hours, so it is asked once a day, and for each hour only of a day whose clocks change.
 */
export function localTime(timeZone: string): (ms: number) => string {
  const format = new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });
  const atStart = new Map<number, Offset>();

  function ask(ms: number): Offset {
    const name = format.formatToParts(ms).find(({ type }) => type === "timeZoneName")?.value ?? "";
    const [, text = "Z", sign, hours, minutes] = /^GMT(([+-])(\d\d):(\d\d))/.exec(name) ?? [];
    const offsetMs = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000;
    return { ms: sign === "-" ? -offsetMs : offsetMs, text };
  }

  function offsetAtStart(day: number): Offset {
    let offset = atStart.get(day);
    if (offset === undefined) atStart.set(day, (offset = ask(day * DAY_MS)));
    return offset;
  }

  return (ms) => {
    const day = Math.floor(ms / DAY_MS);
    const start = offsetAtStart(day);
    const offset = start.text === offsetAtStart(day + 1).text ? start : ask(ms);
    return `${new Date(ms + offset.ms).toISOString().slice(0, 16)}:00${offset.text}`;
  };
}
