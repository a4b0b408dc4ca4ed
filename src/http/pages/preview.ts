import type { Clock } from "../../links/clock.ts";
import type { Links } from "../../links/links.ts";
import { isProblem } from "../../links/problem.ts";
import { DAY_MS } from "../../links/time.ts";
import { previewPage } from "../../pages/preview.tsx";
import type { StatisticsRequest } from "../../visits/statistics.ts";
import type { Visits } from "../../visits/visits.ts";
import { html } from "../answers.ts";
import { readTimeZone } from "../api/query.ts";
import type { Handler } from "../call.ts";
import { problemAnswer } from "../problems.ts";

/** Until a link is this old, its visits are shown by the hour. */
const YOUNG_MS = 2 * DAY_MS;

export interface PreviewOptions {
  readonly links: Pick<Links, "find">;
  readonly visits: Pick<Visits, "sums" | "statistics">;
  readonly clock: Clock;
}

/** The page at /<code>+, which shows where a link leads and its visits. */
export function createPreview({ links, visits, clock }: PreviewOptions): Handler {
  return async (call) => {
    const link = await links.find(call.code);
    if (isProblem(link)) return problemAnswer(call, link);
    const { code, target, createdMs, endsMs } = link;
    const nowMs = clock.nowMs();
    const interval = nowMs - createdMs < YOUNG_MS ? "hour" : "day";
    const range: StatisticsRequest = { interval, timeZone: readTimeZone(call.request) };
    const [sums, statistics] = await Promise.all([visits.sums(link), visits.statistics(link, range)]);
    // A range without dates of the reader's own is never refused.
    if (isProblem(statistics)) throw new Error(statistics.refusals[0]?.rule);
    // Today's hours that are still to come would look like hours without visits.
    const isToCome = (start: string) => interval === "hour" && Date.parse(start) > nowMs;
    const series = statistics.series.filter(({ start }) => !isToCome(start));
    return html(call, 200, (language) =>
      previewPage(language, {
        code,
        target,
        createdMs,
        endsMs,
        interval,
        statistics: { ...statistics, series },
        shortUrl: call.domain.shortUrl(code),
        hasEnded: nowMs >= endsMs,
        timeZone: range.timeZone,
        ...sums,
      }),
    );
  };
}
