import type { Call } from "../http/call.ts";
import { isFromAnotherSite } from "../http/credentials.ts";
import type { Limiter } from "../http/limiter.ts";
import { problemJson, asProblem } from "../http/problems.ts";
import { answer, html } from "../http/responses.ts";
import { queryOf } from "../http/url.ts";
import { BODIES, type Fields, MAX_FORWARDED_QUERY } from "../lib/bounds.ts";
import type { WallClock } from "../links/clock.ts";
import { type Code, lookUpCode } from "../links/code.ts";
import { destinationOf } from "../links/forwarded-query.ts";
import { hasPassword, isLimited, type Link } from "../links/link.ts";
import type { Links } from "../links/links.ts";
import { isProblem } from "../links/problem.ts";
import { readForm } from "../pages/forms.ts";
import { basicPassword, type Passwords } from "../pages/password/handler.ts";
import { answerPageProblem } from "../pages/problem/answer.ts";
import { crawlerPage } from "../pages/problem/page.tsx";
import { counterOf, type Recorder } from "../visits/recorder.ts";
import { type Interstitial, isFromOwnPage } from "./interstitial.ts";
import type { GuardedLink, LinkCache } from "./link-cache.ts";

export interface GateOptions {
  readonly links: Pick<Links, "visit">;
  readonly linkCache: Pick<LinkCache, "get" | "lookUp">;
  readonly clock: WallClock;
  readonly recorder: Pick<Recorder, "record" | "requesterOf">;
  readonly limiter: Pick<Limiter, "isBarred" | "barred" | "unknown">;
  readonly passwords: Passwords;
  /** Undefined with INTERSTITIAL=off. */
  readonly interstitial: Interstitial | undefined;
  readonly onFault: (error: unknown) => void;
}

/**
 * Answers for links with a password or a limit of visits, and for links that pass the query on. Nothing here is cached: each
 * response depends on the store or on the query.
 *
 * A limited visit is counted before the redirect is sent, so a crash may lose one, but never gives one too many. These don't
 * use up a visit: HEAD gets 200 without the destination, crawlers get a page without it, and prefetching browsers get 503,
 * which makes them retry when somebody follows the link. The interstitial itself uses up none.
 *
 * A link with a password answers 401, to browsers 403, without the password or the cookie, also to crawlers and HEAD. Visits count
 * after the right password.
 *
 * A visit of a link that only passes the query on counts like that of a cached link: when the interstitial is shown, or before
 * the redirect. A shared cache that ignores queries would mix those of visitors, so it may keep nothing.
 */
export interface Gate {
  /** Answers a GET for a link that was found. Faults become problems. */
  get(call: Call, guarded: GuardedLink): Promise<Response>;
  /** The same for a HEAD, which doesn't count. */
  head(call: Call, guarded: GuardedLink): Promise<Response>;
  /** Takes the form of the password page or the interstitial. Undefined if this address takes no POST. */
  receive(call: Call): Promise<Response | undefined>;
  /** Whether `receive` may take a POST. Used for `Allow` only, so it changes nothing. */
  takesPost(call: Call): Promise<boolean>;
}

export function createGate(options: GateOptions): Gate {
  const { links, linkCache, clock, recorder, limiter, passwords, interstitial, onFault } = options;

  /** The response to a missing or wrong password. */
  async function refusalOf(call: Call, link: Link): Promise<Response | undefined> {
    if (!hasPassword(link) || passwords.isRemembered(call, link)) return undefined;
    const password = basicPassword(call.headers) ?? "";
    return password === "" ? passwords.require(call, link) : passwords.refusalOf(call, link, password);
  }

  /** Redirects if a visit remains. */
  async function redirectVisitor(call: Call, link: Link, status: 302 | 303): Promise<Response> {
    const now = isLimited(link) ? await links.visit(link) : link;
    if (isProblem(now)) return answerPageProblem(call, now);
    // The maker may just have changed the password.
    if (now.terms?.passwordHash !== link.terms?.passwordHash) return passwords.require(call, now);
    // 303 continues from the interstitial, which has counted.
    if (status === 302 || !isOpen(now)) count(call, now);
    return redirect(call, status, now);
  }

  function count(call: Call, link: Link): void {
    try {
      recorder.record(counterOf(link, call.domain.keyPrefix), call, clock.nowMs());
    } catch (error) {
      onFault(error);
    }
  }

  async function get(call: Call, { link }: GuardedLink): Promise<Response> {
    const refusal = await refusalOf(call, link);
    if (refusal !== undefined) return refusal;
    if (interstitial?.isFor(call) === true) {
      if (isOpen(link) && !isFromOwnPage(call.headers)) count(call, link);
      return interstitial.show(call);
    }
    if (!isLimited(link)) return redirectVisitor(call, link, 302);
    switch (recorder.requesterOf(call.headers)) {
      case "crawler":
        return html(call, 200, crawlerPage);
      case "prefetch":
        return problemJson(call, { kind: "link.prefetch" });
      case "visitor":
        return redirectVisitor(call, link, 302);
    }
  }

  async function head(call: Call, { link }: GuardedLink): Promise<Response> {
    const refusal = await refusalOf(call, link);
    if (refusal !== undefined) return refusal;
    if (interstitial?.isFor(call) === true) return interstitial.show(call);
    return isLimited(link) ? answer({ headers: NEVER_CACHED }) : redirect(call, 302, link);
  }

  const takesForm = ({ link }: GuardedLink) => hasPassword(link) || interstitial !== undefined;

  /** Finds a link that takes a POST. Undefined if this address takes none. */
  async function findForPost(call: Call, code: Code): Promise<GuardedLink | Response | undefined> {
    if (linkCache.get(code, clock.nowMs()) !== undefined) return undefined;
    const result = await linkCache.lookUp(code);
    if ("target" in result) return undefined;
    if (!isProblem(result)) return takesForm(result) ? result : undefined;
    if (result.kind !== "unknown") return answerPageProblem(call, result);
    const limited = limiter.unknown(call);
    return limited === undefined ? undefined : answerPageProblem(call, await limited);
  }

  async function post(call: Call, { link }: GuardedLink, fields: Fields): Promise<Response> {
    const password = fields.get("password");
    if (!hasPassword(link) || password === null)
      return (await refusalOf(call, link)) ?? redirectVisitor(call, link, 303);
    const refusal =
      password === "" ? passwords.require(call, link) : await passwords.refusalOf(call, link, password);
    if (refusal !== undefined) return refusal;
    const response =
      interstitial?.isForPerson(call) === true
        ? await interstitial.show(call)
        : await redirectVisitor(call, link, 303);
    if (response.status < 400) response.headers.append("Set-Cookie", passwords.remember(call, link));
    return response;
  }

  async function receive(call: Call): Promise<Response | undefined> {
    const code = lookUpCode(call.code);
    if (code === undefined) return undefined;
    // Before the cache, whose links would answer 405.
    const barred = limiter.barred(call);
    if (barred !== undefined) return answerPageProblem(call, await barred);
    const before = await findForPost(call, code);
    if (before === undefined || before instanceof Response) return before;
    const fields = await readForm(call.request, BODIES["POST /{code}"]);
    if (isProblem(fields)) return problemJson(call, fields);
    if (isFromAnotherSite(call)) return problemJson(call, { kind: "cross-site" });
    // The link may have changed while the body arrived.
    const now = await findForPost(call, code);
    return now === undefined || now instanceof Response ? now : post(call, now, fields);
  }

  async function takesPost(call: Call): Promise<boolean> {
    const code = lookUpCode(call.code);
    if (code === undefined || linkCache.get(code, clock.nowMs()) !== undefined) return false;
    if (limiter.isBarred(call)) return false;
    const result = await linkCache.lookUp(code);
    // Counts, so that nobody can search for codes here.
    if (isProblem(result) && result.kind === "unknown") await limiter.unknown(call);
    return "link" in result && takesForm(result);
  }

  async function fail(call: Call, error: unknown): Promise<Response> {
    onFault(error);
    return answerPageProblem(call, asProblem(error));
  }

  return {
    get: (call, guarded) => get(call, guarded).catch((error: unknown) => fail(call, error)),
    head: (call, guarded) => head(call, guarded).catch((error: unknown) => fail(call, error)),
    receive,
    takesPost,
  };
}

/** Overrides CACHE_SECONDS. */
const NEVER_CACHED = { "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" };

/** Whether the link only passes the query on. It answers and counts like a cached link, but no shared cache may keep it. */
function isOpen(link: Link): boolean {
  return !isLimited(link) && !hasPassword(link);
}

function redirect({ request }: Call, status: 302 | 303, link: Link): Response {
  const query = queryOf(request);
  const Location = destinationOf(link, query.length > MAX_FORWARDED_QUERY ? "" : query);
  const guards = isOpen(link) ? { "Cache-Control": "no-store" } : NEVER_CACHED;
  return answer({ status, headers: { ...guards, Location } });
}
