import type { DetachedCall } from "../http/call.ts";
import { type Show, viewEndpoint } from "../http/endpoint.ts";
import { problemJson } from "../http/problems.ts";
import type { MonotonicClock } from "../links/clock.ts";
import { isProblem } from "../links/problem.ts";
import type { ApiParts, ApiViewParts } from "./api-parts.ts";
import { envelope, success } from "./envelope.ts";
import { linkJson, linkSchema } from "./link-json.ts";
import { type CheckedCaller, findForView, showForMaker, tagOfLink, VARY } from "./manage-key.ts";
import {
  codeParameter,
  type Entry,
  etag,
  failure,
  KEY_HELPS,
  linkFailures,
  returns,
} from "./openapi/components.ts";
import { z } from "./openapi/schema.ts";

/** Becomes the `ETag` on the serving thread. As one of the view, it would make that a 304 although visits were added. */
const REVISION = "Revision";
/** In seconds. */
const POLL_INTERVAL = "X-Poll-Interval";

/** Adding up the visits of many days takes a while, so this is a view. Every open preview polls it. */
export const getLink = viewEndpoint({
  at: "GET /api/v1/links/{code}",
  cost: "work",
  entry: {
    tags: ["Links"],
    operationId: "getLink",
    summary: "api.link",
    description: "api.link.description",
    security: KEY_HELPS,
    request: { params: codeParameter },
    responses: {
      200: returns("link", envelope("link", linkSchema).openapi("LinkResponse"), {
        ...etag,
        [POLL_INTERVAL]: z.int().min(1).openapi({ description: "api.poll-interval" }),
      }),
      403: failure("api.key.wrong"),
      ...linkFailures("api.gone"),
    },
  } satisfies Entry,
  view: { parameters: [], render: showLink },
  serve: (parts: ApiParts, show: Show<CheckedCaller | undefined>) => {
    const showLinkForMaker = showForMaker(parts, show);
    const pace = createPace(parts.clock);
    return async (call) => {
      const response = await showLinkForMaker(call);
      const revision = response.headers.get(REVISION);
      if (revision !== null) response.headers.set("ETag", revision);
      response.headers.delete(REVISION);
      if (response.ok) response.headers.set(POLL_INTERVAL, String(pace(call.code)));
      return response;
    };
  },
});

function showLink({ links, visits, clock }: ApiViewParts) {
  return async (call: DetachedCall, checked: CheckedCaller | undefined): Promise<Response> => {
    const { link, viewer } = await findForView(links, call, checked);
    if (isProblem(link)) return problemJson(call, link);
    const { visits: counted } = await visits.sums(link);
    const json = linkJson(link, call.domain, { nowMs: clock.nowMs(), visits: counted, viewer });
    return success(call, 200, "link", json, {
      ...(viewer !== "everybody" && VARY),
      [REVISION]: tagOfLink(link),
      "Cache-Control": "no-cache",
    });
  };
}

/** The target per link and process: a thousandth of what a core can serve. */
const POLLS_PER_SECOND = 20;
const SHORTEST_SECONDS = 2;
const LONGEST_SECONDS = 60;
/** Requests are counted for at least this long, and long enough that every watcher has polled once. */
const COUNTED_SECONDS = 5;
/** Beyond this, the oldest count is dropped. */
const MAX_LINKS = 1000;

/** Counts the requests for one link. */
interface Count {
  readonly endsMs: number;
  polls: number;
  /** About the wait that watchers get meanwhile. */
  readonly seconds: number;
}

/**
 * Returns how many seconds a client that watches a link should wait before its next request. The more watchers there are, the
 * longer, so that the total number of requests stays about the same.
 * @internal
 */
export function createPace(clock: MonotonicClock): (code: string) => number {
  const counts = new Map<string, Count>();

  function start(code: string, nowMs: number, last: Count | undefined): Count {
    const seconds = secondsAfter(last, nowMs);
    const count = { endsMs: nowMs + countedMs(seconds), polls: 0, seconds };
    counts.delete(code);
    counts.set(code, count);
    const [oldest] = counts.keys();
    if (counts.size > MAX_LINKS && oldest !== undefined) counts.delete(oldest);
    return count;
  }

  return (code) => {
    const nowMs = clock.monotonicMs();
    const known = counts.get(code);
    const count = known !== undefined && nowMs < known.endsMs ? known : start(code, nowMs, known);
    const nth = count.polls++;
    if (count.seconds === SHORTEST_SECONDS) return SHORTEST_SECONDS;
    // Vary the wait by up to half, so that watchers who start together don't keep polling together.
    return Math.ceil(count.seconds * (0.5 + (nth % 11) / 10));
  };
}

function countedMs(seconds: number): number {
  return Math.max(COUNTED_SECONDS, seconds) * 1000;
}

function secondsAfter(last: Count | undefined, nowMs: number): number {
  if (last === undefined) return SHORTEST_SECONDS;
  // No request came since the count ended, so it covers the time until now.
  const elapsedMs = nowMs - last.endsMs + countedMs(last.seconds);
  const watchers = (last.polls * last.seconds * 1000) / elapsedMs;
  return Math.min(LONGEST_SECONDS, Math.max(SHORTEST_SECONDS, Math.ceil(watchers / POLLS_PER_SECOND)));
}
