import type { Call, Handler } from "../http/call.ts";
import type { Limiter } from "../http/limits/limiter.ts";
import { answer } from "../http/responses.ts";
import type { Clock } from "../links/clock.ts";
import { lookUpCode, NEVER_IN_CODES } from "../links/code.ts";
import { forwardsPath } from "../links/link.ts";
import type { Links } from "../links/links.ts";
import { isProblem } from "../links/problem.ts";
import { answerPageProblem } from "../pages/problem/answer.ts";
import { codeBeforePath, pathOfVisit } from "./forwarded-path.ts";
import type { Gate } from "./gate.ts";
import type { LinkCache } from "./link-cache.ts";

interface PathVisitsOptions {
  readonly links: Pick<Links, "find">;
  readonly linkCache: Pick<LinkCache, "get" | "lookUp">;
  readonly clock: Clock;
  readonly limiter: Pick<Limiter, "isBarred">;
  readonly gate: Pick<Gate, "get" | "head" | "receive" | "takesPost">;
  /** Codes whose addresses are pages, and so never links. */
  readonly pages: ReadonlySet<string>;
  /** Answers and counts every other address. */
  readonly notFound: Handler;
}

/**
 * Answers addresses that no route matches. If they continue after the code of a link that passes the path on, they answer like that
 * link. Such an address takes at most one look-up more than before, and none for a cached link.
 */
export function createPathVisits(options: PathVisitsOptions): Handler {
  const { links, linkCache, clock, limiter, gate, pages, notFound } = options;

  return async (call) => {
    const { request } = call;
    const spelling = codeBeforePath(request);
    if (spelling === undefined || pages.has(spelling) || NEVER_IN_CODES.test(spelling)) return notFound(call);
    const code = lookUpCode(spelling, call.domain.codeCase);
    // A cached link passes no path on.
    if (code === undefined || linkCache.get(code, clock.nowMs()) !== undefined) return notFound(call);
    if (limiter.isBarred(call)) return notFound(call);
    const result = await linkCache.lookUp(code);
    if ("target" in result || (isProblem(result) && result.kind === "unknown")) return notFound(call);
    // A problem doesn't say which link has it.
    const link = !isProblem(result) ? result : await links.find(code, "maker");
    const found = "link" in link ? link.link : link;
    if (isProblem(found) || !forwardsPath(found) || pathOfVisit(request) === undefined) return notFound(call);
    const visit = call.at(call.domain, spelling);
    if (request.method !== "GET" && request.method !== "HEAD") return answerOther(visit);
    if (isProblem(result)) return answerPageProblem(visit, result);
    return request.method === "HEAD" ? gate.head(visit, result) : gate.get(visit, result);
  };

  /** Answers other methods like the router at the link's own address. */
  async function answerOther(visit: Call): Promise<Response> {
    const { method } = visit.request;
    const received = method === "POST" ? await gate.receive(visit) : undefined;
    if (received !== undefined) return received;
    const takesPost = method !== "POST" && (await gate.takesPost(visit));
    const allow = takesPost ? "GET, HEAD, POST, OPTIONS" : "GET, HEAD, OPTIONS";
    return method === "OPTIONS"
      ? answer({ status: 204, headers: { Allow: allow } })
      : answerPageProblem(visit, { kind: "method", method, allow });
  }
}
