import { DAY_MS, HOUR_MS } from "../../links/time.ts";
import type { DayStatistics } from "./day-reader.ts";
import { writeDay, type Zone } from "./zone.ts";

export const INTERVALS = ["hour", "day", "month"] as const;
export type Interval = (typeof INTERVALS)[number];

interface Point {
  readonly start: string;
  visits: number;
  bots: number;
}

interface Series {
  readonly points: Point[];
  /** Undefined outside the range. Without an hour: the point of a whole UTC day. */
  pointOf(day: number, hour?: number): Point | undefined;
}

export function openSeries(first: number, last: number, interval: Interval, zone: Zone): Series {
  if (interval === "hour") return openHours(first, last, zone);
  const points: Point[] = [];
  const ofDays: Point[] = [];
  for (let day = first; day <= last; day++) {
    const date = writeDay(day);
    const start = interval === "month" ? date.slice(0, 7) : date;
    const before = points.at(-1);
    const point = before?.start === start ? before : { start, visits: 0, bots: 0 };
    if (point !== before) points.push(point);
    ofDays.push(point);
  }
  return {
    points,
    pointOf(day, hour) {
      const local = hour === undefined ? day : zone.dayOf(day * DAY_MS + hour * HOUR_MS);
      return ofDays[local - first];
    },
  };
}

function openHours(first: number, last: number, zone: Zone): Series {
  const points: Point[] = [];
  let hour = (first - 1) * 24;
  while (zone.dayOf(hour * HOUR_MS) < first) hour++;
  const firstHour = hour;
  for (; zone.dayOf(hour * HOUR_MS) <= last; hour++)
    points.push({ start: zone.write(hour * HOUR_MS), visits: 0, bots: 0 });
  return {
    points,
    pointOf: (day, ofDay) => (ofDay === undefined ? undefined : points[day * 24 + ofDay - firstHour]),
  };
}

/** Adds a day to the points. A day next to the range may have some hours in it. */
export function addDay({ day, visits, bots, hours }: DayStatistics, pointOf: Series["pointOf"]): void {
  if (hours === undefined) return addTo(pointOf(day), visits, bots);
  for (let at = 0; at < hours.length; at += 3)
    addTo(pointOf(day, hours[at]), hours[at + 1] ?? 0, hours[at + 2] ?? 0);
}

function addTo(point: Point | undefined, visits: number, bots: number): void {
  if (point === undefined) return;
  point.visits += visits;
  point.bots += bots;
}
