import type { DisabledSince } from "../../guard/since.ts";
import { hintsOf, isPassing } from "../../guard/suspicion.ts";
import type { Clock } from "../../links/clock.ts";
import { hasEnded, hasPassword } from "../../links/link.ts";
import type { Links } from "../../links/links.ts";
import { isProblem } from "../../links/problem.ts";
import { DAY_MS, HOUR_MS } from "../../links/time.ts";
import { type Preview, previewPage } from "../../pages/preview.tsx";
import type { Statistics, StatisticsRequest } from "../../visits/statistics.ts";
import type { Visits } from "../../visits/visits.ts";
import { answer, html } from "../answers.ts";
import { readTimeZone } from "../api/query.ts";
import type { Asked } from "../call.ts";
import { knowsAlready, tagOf } from "../conditional.ts";
import { pageLanguage } from "../page-language.ts";
import { describe, problemAnswer } from "../problems.ts";
import type { JustMade } from "./made.ts";
import { changedOf, minutesLeftOf } from "./told.ts";

/** Until a link is this old, its visits are shown by the hour. */
const YOUNG_MS = 2 * DAY_MS;
/** The hours of every zone begin with one of these. */
const QUARTER_MS = HOUR_MS / 4;

export interface PreviewOptions {
  readonly links: Pick<Links, "find">;
  readonly visits: Pick<Visits, "sums" | "statistics">;
  readonly clock: Pick<Clock, "nowMs">;
  readonly disabledSince: DisabledSince;
}

/** The page at /<code>+, which shows where a link leads and its visits. */
export function createPreview({ links, visits, clock, disabledSince }: PreviewOptions) {
  return async (call: Asked, data = ""): Promise<Response> => {
    const { manageKey }: Partial<JustMade> = data === "" ? {} : (JSON.parse(data) as JustMade);
    const link = await links.find(call.code, manageKey === undefined ? "visitor" : "maker");
    if (isProblem(link)) return problemAnswer(call, link);
    const { code, target, createdMs, endsMs, terms, disabled: reason } = link;
    const { assets, contact } = call.domain.identity;
    const nowMs = clock.nowMs();
    const interval = nowMs - createdMs < YOUNG_MS ? "hour" : "day";
    const isOver = hasEnded(link, nowMs);
    const range: StatisticsRequest = { interval, timeZone: readTimeZone(call.request) };
    const isSecret = hasPassword(link);
    const works = !isOver && reason === undefined;
    // What is new matters to who may follow it. The other hints are about the destination.
    const hints = hintsOf(link, nowMs).filter((hint) => (isPassing(hint) ? works : !isSecret));
    const changed = changedOf(link, nowMs);
    const minutesLeft = works ? minutesLeftOf(link, nowMs) : undefined;
    const sums = await visits.sums(link);
    const { language } = pageLanguage(call.request);
    const ETag = `W/${tagOf([
      assets.script.path,
      assets.manifest.path,
      contact,
      link,
      sums,
      isOver,
      hints,
      changed,
      minutesLeft,
      Math.floor(nowMs / QUARTER_MS),
      range,
      language,
      manageKey,
    ])}`;
    const disabled = reason && { reason, sinceMs: await disabledSince(link) };
    if (disabled === undefined && knowsAlready(call.headers, ETag))
      return answer({ status: 304, headers: { ETag } });
    const statistics = await visits.statistics(link, range);
    // A range without dates of the reader's own is never refused.
    if (isProblem(statistics)) throw new Error(statistics.refusals[0]?.rule);
    const series = interval === "hour" ? untilNow(statistics.series, nowMs) : statistics.series;
    const preview: Preview = {
      code,
      target: isSecret ? undefined : target,
      createdMs,
      startsMs: nowMs < (terms?.startsMs ?? 0) ? terms?.startsMs : undefined,
      endsMs,
      changed,
      minutesLeft,
      hints,
      disabled,
      interval,
      statistics: { ...statistics, series },
      shortUrl: call.domain.shortUrl(code),
      manageKey,
      hasEnded: isOver,
      endedBy: terms?.ended,
      maxVisits: terms?.maxVisits,
      timeZone: range.timeZone,
      ...sums,
    };
    // A problem's page is not kept, so it needs no tag.
    if (reason !== undefined) {
      const { status, headers } = describe({ kind: "disabled", reason });
      return html(call, status, () => previewPage(language, preview), headers);
    }
    return html(call, 200, () => previewPage(language, preview), { ETag });
  };
}

/** Today's hours that are still to come would look like hours without visits. */
function untilNow(hours: Statistics["series"], nowMs: number): Statistics["series"] {
  const firstMs = Date.parse(hours[0]?.start ?? "");
  return hours.slice(0, Math.floor((nowMs - firstMs) / HOUR_MS) + 1);
}
