import type { ApiParts, ApiViewParts } from "../../api/api-parts.ts";
import { readStatisticsQuery } from "../../api/get-statistics.ts";
import type { Call, DetachedCall } from "../../http/call.ts";
import { type Show, viewEndpoint } from "../../http/endpoint.ts";
import { urlLanguage, pageLanguage } from "../../http/page-language.ts";
import { describe } from "../../http/problems.ts";
import { html, tagged, tagOf } from "../../http/responses.ts";
import { parametersOf } from "../../http/url.ts";
import type { Edits } from "../../links/edit.ts";
import { targetSinceMs, hasStarted, hasEnded, hasPassword, publicLink, shownCode } from "../../links/link.ts";
import { isProblem } from "../../links/problem.ts";
import { visitedPath } from "../../links/terms/passed-path.ts";
import { HOUR_MS } from "../../links/time.ts";
import type { ReadDisabledSince } from "../../moderation/inspection.ts";
import { hintsOf } from "../../moderation/link-hints.ts";
import type { Sums } from "../../visits/days/day.ts";
import { answerPageProblem } from "../problem/answer.ts";
import { targetChangeOf } from "../shared/link-facts.tsx";
import { minutesLeftOf } from "../shared/warnings.tsx";
import { createJustCreated } from "./just-created.ts";
import { type Preview, previewPage } from "./page.tsx";
import { chooseRange, seriesIn } from "./ranges.ts";
import { resultPage } from "./result.tsx";

/** The hours of every time zone start at one of these. */
const QUARTER_MS = HOUR_MS / 4;

interface PreviewParts extends Pick<ApiViewParts, "links" | "visits" | "clock"> {
  readonly disabledSince: ReadDisabledSince;
  readonly statsKeepDays: number;
  readonly edits: Edits;
}

/** Shows the destination and the visits of a link. The browser that has just created it also gets the manage key. */
export const showPreview = viewEndpoint({
  at: "GET /{code}+",
  cost: "work",
  view: { parameters: ["range", "by", "tz", "language", "path"], isTaggedFirst: true, render: renderPreview },
  serve: ({ links, secret, clock }: ApiParts, show: Show<string | undefined>) => {
    const justCreated = createJustCreated({ secret, clock });
    return async (call: Call) => {
      if (!justCreated.isClaimed(call)) return show(call);
      const link = await links.find(call.code, "maker");
      const isCreator = !isProblem(link) && justCreated.isRight(call, link);
      return show(call, isCreator ? secret.manageKey(link) : undefined);
    };
  },
});

function renderPreview({ links, visits, clock, disabledSince, statsKeepDays, edits }: PreviewParts) {
  return async (call: DetachedCall, manageKey: string | undefined): Promise<Response> => {
    const found = await links.find(call.code, manageKey === undefined ? "visitor" : "maker");
    if (isProblem(found)) return answerPageProblem(call, found);
    // Its maker may show it to others.
    const link = publicLink(found);
    const code = shownCode(link);
    const { target, createdMs, endsMs, terms, disabled: reason } = link;
    const { assets, contact } = call.domain.identity;
    const nowMs = clock.nowMs();
    const isOver = hasEnded(link, nowMs);
    const parameters = parametersOf(call.request);
    const timeZone = readStatisticsQuery(call.request).query.tz;
    const range = chooseRange(
      { range: parameters.get("range"), by: parameters.get("by") },
      { createdMs, endsMs, nowMs, keepDays: statsKeepDays, timeZone },
    );
    const visited = visitedPath(link, parameters.get("path"));
    const carried = {
      ...carriedOf(call.request, timeZone),
      ...(visited !== "" && { path: visited }),
    };
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
      visited,
      carried,
      query,
      manageKey,
      hasEnded: isOver,
      ...sums,
    };
    const quarter = Math.floor(nowMs / QUARTER_MS);
    const appearance = [assets.script.path, assets.manifest.path, contact, language];
    const ETag = `W/${tagOf([appearance, link, facts, range.name, range.names, range.request, quarter])}`;
    const disabled = reason && { reason, sinceMs: await disabledSince(link) };
    const render = async (): Promise<Response> => {
      const statistics = await visits.statistics(link, range.request);
      // The page offers only valid ranges.
      if (isProblem(statistics)) throw new Error(statistics.refusals[0]?.rule);
      const series = seriesIn(range, statistics.series);
      const preview: Preview = {
        ...facts,
        edits,
        nowMs,
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
      const { status, headers } =
        reason === undefined ? { status: 200, headers: {} } : describe({ kind: "disabled", reason });
      // Visitors want the destination. The maker knows it, and wants to share the link.
      const pageOf =
        works && manageKey !== undefined
          ? () => resultPage(language, { ...preview, manageKey })
          : () => previewPage(language, preview);
      return html(call, status, pageOf, headers);
    };
    // A problem's page isn't cached, so it needs no tag.
    return disabled === undefined ? tagged(call, ETag, render) : render();
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
