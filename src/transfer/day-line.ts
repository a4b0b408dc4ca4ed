// The visits of a link on one day, as a line of an export.
import type { LinkDay } from "../store/shared/records.ts";
import {
  closeOneVisit,
  type DayDetail,
  type Detail,
  readDetail,
  type Value,
  writeDetail,
  writeOneVisit,
} from "../visits/days/detail.ts";
import { DIMENSIONS } from "../visits/days/dimensions.ts";
import {
  anything,
  byKey,
  code,
  type Codec,
  count,
  day,
  instant,
  isCount,
  isText,
  lowerVisits,
  object,
  optional,
  record,
  type RecordCodec,
  restrict,
  visitCount,
} from "./field-codecs.ts";

const dated = restrict(day, (number) => number > 0, "must be null or a day from 1970-01-02 on");

const linkDay = record<Omit<LinkDay, "detail">>({
  code: ["code", code],
  createdMs: ["created_at", instant],
  day: [
    "day",
    {
      // Day 0 isn't a date: it holds the sum of days that are too old to list.
      write: (number) => (number === 0 ? null : day.write(number)),
      read: (json, name) => (json === null ? 0 : dated.read(json, name)),
    },
  ],
  visits: ["visits", visitCount],
  bots: ["bots", visitCount],
});

const hourSums = restrict<object, NonNullable<DayDetail["hours"]>>(
  object,
  (sums) => Object.entries(sums).every(isHour),
  "must be 0 to 23, each with two numbers",
);
const valueCounts = restrict<unknown, Value[]>(
  anything,
  (pairs) => Array.isArray(pairs) && pairs.every(isValue),
  "must be a list of [text, visits]",
);
/** Closed days have counts, but no hashes of visitors. */
const dayDetail = record<Omit<DayDetail, "dropped" | "unreadable">>({
  hours: ["hours", optional(hourSums)],
  visitors: ["visitors", count],
  values: ["values", emptyIfMissing(byKey(DIMENSIONS, valueCounts))],
  others: ["others", emptyIfMissing(byKey(DIMENSIONS, count))],
});

export const dayLine: RecordCodec<LinkDay> = {
  write: (given) => ({
    ...linkDay.write(given),
    ...(given.detail && dayDetail.write(readDetail(given.detail))),
  }),
  read(json, name) {
    const given = linkDay.read(json, name);
    const detail = given.day === 0 ? null : lowerVisits(dayDetail.read(json, name));
    return { ...given, detail: detail && packDetail(detail) };
  },
};

function isHour([hour, sums]: [string, unknown]): boolean {
  return /^(?:1?\d|2[0-3])$/.test(hour) && Array.isArray(sums) && sums.length === 2 && sums.every(isCount);
}

function isValue(pair: unknown): boolean {
  if (!Array.isArray(pair) || pair.length !== 2) return false;
  return isText(pair[0]) && !pair[0].includes("\0") && isCount(pair[1]);
}

function emptyIfMissing<T extends object>(codec: Codec<T>): Codec<T> {
  return {
    write: (content) => (Object.keys(content).length === 0 ? undefined : codec.write(content)),
    read: (json = {}, name) => codec.read(json, name),
  };
}

/** Uses the short form of a day with one visit where possible: most days have one. */
function packDetail(detail: DayDetail): Detail {
  const { hours = {}, visitors, values, others } = detail;
  const [[hour, [visits, bots]] = ["", [0, 0]], ...moreHours] = Object.entries(hours);
  const texts = DIMENSIONS.flatMap((dimension) => {
    const [[value, times] = ["", 0], ...more] = values[dimension] ?? [];
    return times === 1 && more.length === 0 ? [value] : [];
  });
  const isOneVisit = visits === 1 && bots === 0 && visitors === 1 && moreHours.length === 0;
  if (!isOneVisit || Object.keys(others).length > 0 || texts.length < DIMENSIONS.length)
    return writeDetail(detail);
  return closeOneVisit(writeOneVisit({ hour: Number(hour), visitor: 0, texts })) ?? writeDetail(detail);
}
