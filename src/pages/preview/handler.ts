import { readStatisticsQuery } from "../../api/statistics.ts";
import type { DetachedCall } from "../../http/call.ts";
import { urlLanguage, pageLanguage } from "../../http/page-language.ts";
import { describe } from "../../http/problems.ts";
import { knowsAlready, tagOf, answer, html } from "../../http/responses.ts";
import { parametersOf } from "../../http/url.ts";
import type { Clock } from "../../links/clock.ts";
import { targetSinceMs, hasStarted, hasEnded, hasPassword } from "../../links/link.ts";
import type { Links } from "../../links/links.ts";
import { isProblem } from "../../links/problem.ts";
import { HOUR_MS } from "../../links/time.ts";
import type { ReadDisabledSince } from "../../moderation/inspection.ts";
import { hintsOf } from "../../moderation/link-hints.ts";
import type { Sums } from "../../visits/days/day.ts";
import type { Counts } from "../../visits/visits.ts";
import { problemAnswer } from "../problem/answer.ts";
import { targetChangeOf } from "../shared/link-facts.tsx";
import { minutesLeftOf } from "../shared/warnings.tsx";
import type { NewLink } from "./just-created.ts";
import { type Preview, previewPage } from "./page.tsx";
import { chooseRange, seriesIn } from "./ranges.ts";

/** The hours of every time zone start at one of these. */
const QUARTER_MS = HOUR_MS / 4;

export interface PreviewOptions {
  readonly links: Pick<Links, "find">;
  readonly visits: Pick<Counts, "sums" | "statistics">;
  readonly clock: Pick<Clock, "nowMs">;
  readonly disabledSince: ReadDisabledSince;
  readonly statsKeepDays: number;
}

/** The page at /<code>+, with the destination of a link and its visits. */
export function createPreview({ links, visits, clock, disabledSince, statsKeepDays }: PreviewOptions) {
  return async (call: DetachedCall, data = ""): Promise<Response> => {
    const { manageKey }: Partial<NewLink> = data === "" ? {} : (JSON.parse(data) as NewLink);
    const link = await links.find(call.code, manageKey === undefined ? "visitor" : "maker");
    if (isProblem(link)) return problemAnswer(call, link);
    const { code, target, createdMs, endsMs, terms, disabled: reason } = link;
    const { assets, contact } = call.domain.identity;
    const nowMs = clock.nowMs();
    const isOver = hasEnded(link, nowMs);
    const parameters = parametersOf(call.request);
    const timeZone = readStatisticsQuery(call.request).query.tz;
    const range = chooseRange(
      { range: parameters.get("range"), by: parameters.get("by") },
      { createdMs, endsMs, nowMs, keepDays: statsKeepDays, timeZone },
    );
    const carried = carriedOf(call.request, timeZone);
    const query = {
      ...(parameters.has("range") && { range: range.name }),
      ...(parameters.has("by") && { by: range.interval }),
      ...(timeZone !== "UTC" && { tz: timeZone }),
    };
    const isSecret = hasPassword(link);
    const works = !isOver && reason === undefined;
    // A change matters to those who may follow the link. The other hints are about the destination.
    const hints = hintsOf(link, nowMs).filter(({ hint }) => (hint === "changed" ? works : !isSecret));
    const changed = targetChangeOf(link, nowMs);
    const minutesLeft = works ? minutesLeftOf(link, nowMs) : undefined;
    const startsMs = hasStarted(link, nowMs) ? undefined : terms?.startsMs;
    const sums = await visits.sums(link);
    const { language } = pageLanguage(call.request);
    const facts = {
      startsMs,
      changed,
      minutesLeft,
      hints,
      carried,
      query,
      manageKey,
      hasEnded: isOver,
      ...sums,
    };
    const quarter = Math.floor(nowMs / QUARTER_MS);
    const look = [assets.script.path, assets.manifest.path, contact, language];
    const ETag = `W/${tagOf([look, link, facts, range.name, range.names, range.request, quarter])}`;
    const disabled = reason && { reason, sinceMs: await disabledSince(link) };
    if (disabled === undefined && knowsAlready(call.headers, ETag))
      return answer({ status: 304, headers: { ETag } });
    const statistics = await visits.statistics(link, range.request);
    // The page offers only valid ranges.
    if (isProblem(statistics)) throw new Error(statistics.refusals[0]?.rule);
    const series = seriesIn(range, statistics.series);
    const preview: Preview = {
      ...facts,
      code,
      target: isSecret ? undefined : target,
      createdMs,
      targetSinceMs: targetSinceMs(link),
      endsMs,
      disabled,
      range,
      statistics: { ...statistics, ...sumsOf(series), series },
      shortUrl: call.domain.shownUrl(code),
      endedBy: terms?.ended,
      terms,
    };
    // A problem's page isn't cached, so it needs no tag.
    if (reason !== undefined) {
      const { status, headers } = describe({ kind: "disabled", reason });
      return html(call, status, () => previewPage(language, preview), headers);
    }
    return html(call, 200, () => previewPage(language, preview), { ETag });
  };
}

/** Parameters that the page's own links keep. */
function carriedOf(request: Request, timeZone: string): Record<string, string> {
  const language = urlLanguage(request);
  return {
    ...(language !== undefined && { language }),
    ...(timeZone !== "UTC" && { tz: timeZone }),
  };
}

function sumsOf(series: readonly Sums[]): Sums {
  const sum = (which: keyof Sums) => series.reduce((total, point) => total + point[which], 0);
  return { visits: sum("visits"), bots: sum("bots") };
}
