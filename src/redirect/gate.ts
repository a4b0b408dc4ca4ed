import type { Call } from "../http/call.ts";
import { isFromAnotherSite } from "../http/credentials.ts";
import type { Limiter } from "../http/limits/limiter.ts";
import { asProblem, type Limited, problemJson } from "../http/problems.ts";
import { answer, html, prefersHtml } from "../http/responses.ts";
import { queryOf } from "../http/url.ts";
import { BODIES, type Fields, header, MAX_FORWARDED_QUERY } from "../lib/bounds.ts";
import type { MonotonicClock, WallClock } from "../links/clock.ts";
import { type Code, lookUpCode } from "../links/code.ts";
import type { Blocked } from "../links/link-check.ts";
import { forwardsPath, hasPassword, isLimited, type Public } from "../links/link.ts";
import type { Links } from "../links/links.ts";
import { isProblem, type Problem } from "../links/problem.ts";
import type { Target } from "../links/target.ts";
import { withPath } from "../links/terms/passed-path.ts";
import { readForm, seeOther } from "../pages/forms.ts";
import { basicPassword, type Passwords } from "../pages/password/handler.ts";
import { answerPageProblem } from "../pages/problem/answer.ts";
import { crawlerPage } from "../pages/problem/page.tsx";
import { counterOf, type Recorder } from "../visits/recorder.ts";
import { pathOfVisit } from "./forwarded-path.ts";
import { destinationOf } from "./forwarded-query.ts";
import { type Interstitial, isFromOwnPage } from "./interstitial.ts";
import type { GuardedLink, LinkCache } from "./link-cache.ts";
import { createSentForms, type SentForms } from "./sent-forms.ts";

export interface GateOptions {
  readonly links: Pick<Links, "visit">;
  readonly linkCache: Pick<LinkCache, "get" | "lookUp">;
  readonly clock: MonotonicClock & WallClock;
  readonly recorder: Pick<Recorder, "record" | "requesterOf">;
  readonly limiter: Pick<Limiter, "isBarred" | "barred" | "unknown">;
  readonly passwords: Passwords;
  /** Checks destinations with a path. */
  readonly blocked: Blocked;
  /** Undefined with INTERSTITIAL=off. */
  readonly interstitial: Interstitial | undefined;
  readonly onFault: (error: unknown) => void;
}

/**
 * Answers for links with a password or a limit of visits, and for links that pass the query or the path on. Nothing here is cached: each
 * response depends on the store or on the address.
 *
 * A limited visit is counted before the redirect is sent, so a crash may lose one, but never gives one too many. These don't
 * use up a visit: HEAD gets 200 without the destination, crawlers get a page without it, and prefetching browsers get 503,
 * which makes them retry when somebody follows the link. The interstitial itself uses up none, and a form that is sent twice one.
 *
 * A link with a password answers 401, to browsers 403, without the password or the cookie, also to crawlers and HEAD. Visits count
 * after the right password.
 *
 * A visit of a link that only passes these on counts like that of a cached link: when the interstitial is shown, or before
 * the redirect. A shared cache that ignores queries would mix those of visitors, so it may keep nothing.
 */
export class Gate {
  private readonly sentForms: SentForms;

  constructor(private readonly options: GateOptions) {
    this.sentForms = createSentForms(options.links, options.clock);
  }

  /** Answers a GET for a link that was found. Faults become problems. */
  get(call: Call, { link }: GuardedLink): Promise<Response> {
    return this.show(call, link).catch((error: unknown) => this.fail(call, error));
  }

  /** The same for a HEAD, which doesn't count. */
  head(call: Call, { link }: GuardedLink): Promise<Response> {
    return this.describe(call, link).catch((error: unknown) => this.fail(call, error));
  }

  /** Takes the form of the password page or the interstitial. Undefined if this address takes no POST. */
  async receive(call: Call): Promise<Response | undefined> {
    const code = lookUpCode(call.code, call.domain.codeCase);
    if (code === undefined) return undefined;
    // Before the cache, whose links would answer 405.
    const barred = this.options.limiter.barred(call);
    if (barred !== undefined) return answerPageProblem(call, await barred);
    const before = await this.findForPost(call, code);
    if (before === undefined && !hasBody(call)) return undefined;
    if (before !== undefined && isProblem(before) && !isUsedUp(before))
      return answerPageProblem(call, before);
    const fields = await readForm(call.request, BODIES["POST /{code}"]);
    if (isProblem(fields)) return before && problemJson(call, fields);
    if (isFromAnotherSite(call)) return problemJson(call, { kind: "cross-site" });
    // The link may have changed while the body arrived.
    const now = await this.findForPost(call, code);
    // The password may have been removed while the visitor typed it.
    if (now === undefined) return fields.has("form") ? seeOther(addressOf(call, code)) : undefined;
    if (!isProblem(now)) return this.post(call, now.link, fields);
    const link = isUsedUp(now) ? await this.sentForms.linkOf(code, fields.get("form") ?? "") : undefined;
    return link === undefined ? answerPageProblem(call, now) : this.post(call, link, fields);
  }

  /** Whether `receive` may take a POST. Used for `Allow` only, so it changes nothing. */
  async takesPost(call: Call): Promise<boolean> {
    const { linkCache, clock, limiter } = this.options;
    const code = lookUpCode(call.code, call.domain.codeCase);
    if (code === undefined || linkCache.get(code, clock.nowMs()) !== undefined) return false;
    if (limiter.isBarred(call)) return false;
    const result = await linkCache.lookUp(code);
    // Counts, so that nobody can search for codes here.
    if (isProblem(result) && result.kind === "unknown") await limiter.unknown(call);
    return "link" in result && this.takesForm(result.link);
  }

  private async show(call: Call, link: Public): Promise<Response> {
    const { recorder, interstitial } = this.options;
    const refusal = await this.refusalOf(call, link);
    if (refusal !== undefined) return refusal;
    if (interstitial?.isFor(call) === true) {
      const aimed = await this.aim(call, link);
      if (isProblem(aimed)) return answerPageProblem(call, aimed);
      if (isOpen(link) && !isFromOwnPage(call.headers)) this.count(call, link);
      return interstitial.show(call, aimed);
    }
    if (!isLimited(link)) return this.redirectVisitor(call, link, 302);
    switch (recorder.requesterOf(call.headers)) {
      case "crawler":
        return html(call, 200, crawlerPage);
      case "prefetch":
        return problemJson(call, { kind: "link.prefetch" });
      case "visitor":
        return this.redirectVisitor(call, link, 302);
    }
  }

  private async describe(call: Call, link: Public): Promise<Response> {
    const { interstitial } = this.options;
    const refusal = await this.refusalOf(call, link);
    if (refusal !== undefined) return refusal;
    const aimed = await this.aim(call, link);
    if (isProblem(aimed)) return answerPageProblem(call, aimed);
    if (interstitial?.isFor(call) === true) return interstitial.show(call, aimed);
    return isLimited(link) ? answer({ headers: NEVER_CACHED }) : redirect(call, 302, aimed);
  }

  private async post(call: Call, link: Public, fields: Fields): Promise<Response> {
    const { passwords, interstitial } = this.options;
    const password = fields.get("password");
    const form = fields.get("form") ?? "";
    if (!hasPassword(link) || password === null)
      return (await this.refusalOf(call, link)) ?? this.redirectVisitor(call, link, 303, form);
    const refusal =
      password === "" ? passwords.require(call, link) : await passwords.refusalOf(call, link, password);
    if (refusal !== undefined) return refusal;
    const aimed = await this.aim(call, link);
    if (isProblem(aimed)) return answerPageProblem(call, aimed);
    const response =
      interstitial?.isForPerson(call) === true
        ? await interstitial.show(call, aimed)
        : await this.redirectVisitor(call, link, 303, form);
    if (response.status < 400) response.headers.append("Set-Cookie", passwords.remember(call, link));
    return response;
  }

  /** Redirects if a visit remains. */
  private async redirectVisitor(call: Call, link: Public, status: 302 | 303, form = ""): Promise<Response> {
    const first = await this.aim(call, link);
    // A refused address uses up no visit.
    if (isProblem(first)) return answerPageProblem(call, first);
    const visit = isLimited(link) ? this.sentForms.visit(link, form) : undefined;
    const now = visit === undefined ? link : await visit.result;
    if (isProblem(now)) return answerPageProblem(call, now);
    // The maker may just have changed the password.
    if (now.terms?.passwordHash !== link.terms?.passwordHash)
      return this.options.passwords.require(call, now);
    // 303 continues from the interstitial, which has counted.
    const aimed = visit === undefined ? first : await this.aim(call, now);
    if (isProblem(aimed)) return answerPageProblem(call, aimed);
    if (visit?.isRepeated !== true && (status === 302 || !isOpen(now))) this.count(call, now);
    return redirect(call, status, aimed);
  }

  /** The response to a missing or wrong password. */
  private async refusalOf(call: Call, link: Public): Promise<Response | undefined> {
    const { passwords } = this.options;
    if (!hasPassword(link) || passwords.isRemembered(call, link)) return undefined;
    const password = basicPassword(call.headers) ?? "";
    return password === "" ? passwords.require(call, link) : passwords.refusalOf(call, link, password);
  }

  /** The link with the destination of this visit, which has the path after the code. Lists have rules about paths. */
  private async aim(call: Call, link: Public): Promise<Public | Problem | Limited> {
    if (!forwardsPath(link)) return link;
    const { blocked, limiter } = this.options;
    const path = pathOfVisit(call.request);
    const target = path === undefined ? undefined : withPath(link.target, path);
    if (target === undefined) return (await limiter.unknown(call)) ?? { kind: "unknown" };
    const reason = blocked(target as Target);
    return reason === undefined ? { ...link, target: target as Target } : { kind: "disabled", reason };
  }

  /** Finds a link that takes a POST. Undefined if this address takes none. */
  private async findForPost(call: Call, code: Code): Promise<GuardedLink | Problem | Limited | undefined> {
    const { linkCache, clock, limiter } = this.options;
    if (linkCache.get(code, clock.nowMs()) !== undefined) return undefined;
    const result = await linkCache.lookUp(code);
    if ("target" in result) return undefined;
    if (!isProblem(result)) return this.takesForm(result.link) ? result : undefined;
    return result.kind === "unknown" ? limiter.unknown(call) : result;
  }

  private takesForm(link: Public): boolean {
    return hasPassword(link) || this.options.interstitial !== undefined;
  }

  private count(call: Call, link: Public): void {
    const { recorder, clock, onFault } = this.options;
    try {
      recorder.record(counterOf(link, call.domain.keyPrefix), call, clock.nowMs());
    } catch (error) {
      onFault(error);
    }
  }

  private fail(call: Call, error: unknown): Response {
    this.options.onFault(error);
    return answerPageProblem(call, asProblem(error));
  }
}

/** Overrides CACHE_SECONDS. */
const NEVER_CACHED = { "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" };

/** Whether the link only passes the query or the path on. It answers and counts like a cached link, but no shared cache may keep it. */
function isOpen(link: Public): boolean {
  return !isLimited(link) && !hasPassword(link);
}

function redirect({ request }: Call, status: 302 | 303, link: Public): Response {
  const query = queryOf(request);
  const Location = destinationOf(link, query.length > MAX_FORWARDED_QUERY ? "" : query);
  const guards = isOpen(link) ? { "Cache-Control": "no-store" } : NEVER_CACHED;
  return answer({ status, headers: { ...guards, Location } });
}

/** Whether a browser sends something, perhaps the form of a page whose link asks for nothing any more. */
function hasBody({ headers }: Call): boolean {
  return prefersHtml(header(headers, "accept")) && headers.has("content-type");
}

function isUsedUp(problem: Problem | Limited): boolean {
  return problem.kind === "expired" && problem.by === "visits";
}

/** The short address with the visitor's path and query. */
function addressOf({ request }: Call, code: Code): string {
  const path = pathOfVisit(request) ?? "";
  return `/${encodeURIComponent(code)}${path === "/" ? "" : path}${queryOf(request)}`;
}
