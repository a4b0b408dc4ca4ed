/** @jsxImportSource ../shared/html */
import { memoize } from "../../lib/memoize.ts";
import { DAY_MS, HOUR_MS } from "../../links/time.ts";
import { message } from "../../locales/messages.ts";
import type { Statistics } from "../../visits/statistics/statistics.ts";
import { formatIn, periodOf } from "../shared/charts/dates.ts";
import { numberFormat } from "../shared/in-words.ts";

/** Fewer visits say nothing about usual times. */
const MIN_SHOWN_VISITS = 50;
/** The number of colours, besides the one for no visits. */
const STEPS = 4;
/** Hours are wider than their columns, so only some are visible. Screen readers read all. */
const EVERY_HOURS = 6;
const HOURS = Array.from({ length: 24 }, (_, hour) => hour);
const NAMED_HOURS = HOURS.filter((hour) => hour % EVERY_HOURS === 0);

type WeekProps = Pick<Statistics, "week"> & { readonly language: string; readonly timeZone: string };

/** Visits by weekday and hour. The darker, the more visits. */
export function Week({ language, week, timeZone }: WeekProps) {
  if (week === undefined || week.visits.reduce((sum, visits) => sum + visits) < MIN_SHOWN_VISITS) return null;
  const { visits, from, to } = week;
  const number = numberFormat(language);
  const names = namesIn(language);
  const most = Math.max(...visits);
  const ofStep = Math.ceil(most / STEPS);
  return (
    <>
      <h3 id="week-title">{message(language, "preview.week")}</h3>
      <p class="readable">
        <span>
          {message(language, "preview.week.most", {
            hour: names.hourOfDay(String(visits.indexOf(most))),
            most: number.format(most),
          })}
        </span>
        <span class="reading" aria-hidden="true" />
      </p>
      <table class="week" id="week" aria-labelledby="week-title">
        <thead>
          <tr aria-hidden="true">
            <td />
            {NAMED_HOURS.map((hour) => (
              <td colspan={EVERY_HOURS}>{names.hour(String(hour))}</td>
            ))}
          </tr>
          <tr>
            <td />
            {HOURS.map((hour) => (
              <th scope="col">
                <span>{names.hour(String(hour))}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {names.days.map((day) => (
            <tr>
              <th scope="row">{names.day(String(day))}</th>
              {HOURS.map((hour) => {
                const place = day * 24 + hour;
                const count = visits[place] ?? 0;
                if (count === 0) return EMPTY;
                const text = number.format(count);
                return (
                  <td
                    class={`step-${Math.ceil(count / ofStep)}`}
                    title={`${names.hourOfDay(String(place))}: ${text}`}
                  >
                    <span>{text}</span>
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
      <Legend language={language} most={most} ofStep={ofStep} />
      <p class="hint">
        {message(language, "preview.week.which", { days: periodOf(language, from, to), zone: timeZone })}
      </p>
    </>
  );
}

const EMPTY = (
  <td>
    <span>0</span>
  </td>
);

/** The visits of each colour. Cells contain their own number for those who can't see colours. */
function Legend({ language, most, ofStep }: { language: string; most: number; ofStep: number }) {
  const number = numberFormat(language);
  const steps = Array.from({ length: Math.ceil(most / ofStep) }, (_, nth) => {
    const [least, greatest] = [nth * ofStep + 1, Math.min((nth + 1) * ofStep, most)].map(number.format);
    return { nth: nth + 1, text: least === greatest ? least : `${least}–${greatest}` };
  });
  return (
    <ul class="legend" aria-hidden="true">
      {[{ nth: 0, text: "0" }, ...steps].map(({ nth, text }) => (
        <li>
          <span class={`step-${nth}`} />
          {text}
        </li>
      ))}
    </ul>
  );
}

const MONDAY_MS = Date.UTC(2026, 10, 23);

/** Days and hours in words. Days count from Monday, hours from Monday 0:00. */
const namesIn = memoize((language) => {
  const hour = formatIn(language, { hour: "numeric" });
  const weekday = formatIn(language, { weekday: "short" });
  const hourOfDay = formatIn(language, { weekday: "long", hour: "numeric" });
  const { firstDay } = new Intl.Locale(language).getWeekInfo();
  return {
    /** From the first day of the week in this language. */
    days: Array.from({ length: 7 }, (_, nth) => (firstDay - 1 + nth) % 7),
    day: memoize((day) => weekday.format(MONDAY_MS + Number(day) * DAY_MS)),
    hour: memoize((ofDay) => hour.format(MONDAY_MS + Number(ofDay) * HOUR_MS)),
    /** "Tuesday, 9 – 10 AM". A range into the next day would contain dates, so that one is named by its start. */
    hourOfDay: memoize((hours) => {
      const ms = MONDAY_MS + Number(hours) * HOUR_MS;
      if (Number(hours) % 24 === 23) return hourOfDay.format(ms);
      // Korean has no spaces in "19~20시", unlike the CLDR.
      return hourOfDay.formatRange(ms, ms + HOUR_MS).replace(/\s~\s/, "~");
    }),
  };
});
