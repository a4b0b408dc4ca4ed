import type { Call } from "../http/call.ts";
import type { Limiter } from "../http/limiter.ts";
import { problemAnswer, problemJson, problemOf } from "../http/problems.ts";
import { answer, html } from "../http/responses.ts";
import type { Clock } from "../links/clock.ts";
import { lookUpCode } from "../links/code.ts";
import { hasPassword, type Link } from "../links/link.ts";
import type { Links } from "../links/links.ts";
import { isProblem } from "../links/problem.ts";
import { basicPassword, type Passwords } from "../pages/password/handler.ts";
import { isFromAnotherSite, readFields } from "../pages/shared/form-data.ts";
import { countedPage } from "../pages/visit-limit/page.tsx";
import { counterOf, type Recorder } from "../visits/recorder.ts";
import type { Interstitial } from "./interstitial.ts";
import type { Guarded, LinkMemory } from "./link-cache.ts";

/** Of the form that takes the password. */
const MAX_BYTES = 2048;

export interface GateOptions {
  readonly links: Pick<Links, "visit">;
  readonly memory: Pick<LinkMemory, "get" | "lookUp">;
  readonly clock: Pick<Clock, "nowMs">;
  readonly recorder: Pick<Recorder, "record" | "requesterOf">;
  readonly limiter: Pick<Limiter, "barred" | "unknown">;
  readonly passwords: Passwords;
  /** Undefined if every link leads on at once. */
  readonly interstitial: Interstitial | undefined;
  readonly onFault: (error: unknown) => void;
}

/**
 * Answers for links that are not open to every visit: they ask for a password, or end with a visit. Nothing here is cached,
 * and each answer is made from what the store says now.
 *
 * A visit of a limited number is counted before the redirect is sent, so a crash may lose one, but never gives one too many.
 * What only looks uses none up: HEAD is answered 200 without the destination, crawlers get a page without it, and browsers
 * that fetch ahead get 503, which makes them ask again when somebody follows the link. Whoever sees the interstitial
 * first uses up a visit by going on.
 *
 * A password link answers 401 to everybody, crawlers and HEAD included, who does not show the password or the cookie. Its
 * visits count once the password was right.
 */
export function createGate(options: GateOptions) {
  const { links, memory, clock, recorder, limiter, passwords, interstitial, onFault } = options;

  /** What a call without the password gets, or with a wrong one. */
  async function refusalOf(call: Call, link: Link): Promise<Response | undefined> {
    if (!hasPassword(link) || passwords.isRemembered(call, link)) return undefined;
    const given = basicPassword(call.headers) ?? "";
    return given === "" ? passwords.ask(call, link) : passwords.refusalOf(call, link, given);
  }

  /** Lets the visitor through, if there is a visit left. */
  async function leadOn(call: Call, link: Link, status: 302 | 303): Promise<Response> {
    const now = isLimited(link) ? await links.visit(link) : link;
    if (isProblem(now)) return problemAnswer(call, now);
    // Its maker may just have changed the password.
    if (now.terms?.passwordHash !== link.terms?.passwordHash) return passwords.ask(call, now);
    try {
      recorder.record(counterOf(now), call, clock.nowMs());
    } catch (error) {
      onFault(error);
    }
    return redirect(status, now);
  }

  async function get(call: Call, { link }: Guarded): Promise<Response> {
    const refusal = await refusalOf(call, link);
    if (refusal !== undefined) return refusal;
    if (interstitial?.isFor(call) === true) return interstitial.show(call);
    if (!isLimited(link)) return leadOn(call, link, 302);
    switch (recorder.requesterOf(call.headers)) {
      case "crawler":
        return html(call, 200, countedPage);
      case "prefetch":
        return problemJson(call, { kind: "link.prefetch" });
      case "visitor":
        return leadOn(call, link, 302);
    }
  }

  async function head(call: Call, { link }: Guarded): Promise<Response> {
    const refusal = await refusalOf(call, link);
    if (refusal !== undefined) return refusal;
    if (interstitial?.isFor(call) === true) return interstitial.show(call);
    return isLimited(link) ? answer({ headers: NEVER_KEPT }) : redirect(302, link);
  }

  /** Takes the password, or the word of the interstitial's reader to go on. */
  async function post(call: Call, { link }: Guarded): Promise<Response | undefined> {
    if (!hasPassword(link) && interstitial === undefined) return undefined;
    // Read for anyone, so it has to be short.
    if (!(Number(call.headers.get("content-length") ?? Number.NaN) <= MAX_BYTES))
      return problemJson(call, { kind: "body.too-large", max: MAX_BYTES });
    const sent = await readFields(call.request);
    if (isProblem(sent)) return problemJson(call, sent);
    if (isFromAnotherSite(call)) return problemJson(call, { kind: "cross-site" });
    const given = sent.get("password");
    if (!hasPassword(link) || given === null) return (await refusalOf(call, link)) ?? leadOn(call, link, 303);
    const refusal = given === "" ? passwords.ask(call, link) : await passwords.refusalOf(call, link, given);
    if (refusal !== undefined) return refusal;
    const response =
      interstitial?.isForPerson(call) === true
        ? await interstitial.show(call)
        : await leadOn(call, link, 303);
    if (response.status < 400) response.headers.append("Set-Cookie", passwords.remember(call, link));
    return response;
  }

  /** Undefined if this address takes no POST. */
  async function receive(call: Call): Promise<Response | undefined> {
    // Now: the client's address is lost if the visitor hangs up meanwhile.
    call.client();
    const code = lookUpCode(call.code);
    if (code === undefined || memory.get(code, clock.nowMs()) !== undefined) return undefined;
    const barred = limiter.barred(call);
    if (barred !== undefined) return problemAnswer(call, await barred);
    const found = await memory.lookUp(code);
    if (!isProblem(found)) return undefined;
    if (found.kind === "guarded") return post(call, found);
    if (found.kind !== "unknown") return problemAnswer(call, found);
    const limited = limiter.unknown(call);
    return limited === undefined ? undefined : problemAnswer(call, await limited);
  }

  /** Whether `receive` may take a POST. Asked for `Allow` only, so it changes nothing. */
  async function takesPost(call: Call): Promise<boolean> {
    const code = lookUpCode(call.code);
    if (code === undefined || memory.get(code, clock.nowMs()) !== undefined) return false;
    if (limiter.barred(call) !== undefined) return false;
    const found = await memory.lookUp(code);
    if (!isProblem(found) || found.kind !== "guarded") {
      // Whoever looks for codes must not do it here.
      if (isProblem(found) && found.kind === "unknown") await limiter.unknown(call);
      return false;
    }
    return hasPassword(found.link) || interstitial !== undefined;
  }

  async function fail(call: Call, error: unknown): Promise<Response> {
    onFault(error);
    return problemAnswer(call, problemOf(error));
  }

  return {
    get: (call: Call, guarded: Guarded) => get(call, guarded).catch((error: unknown) => fail(call, error)),
    head: (call: Call, guarded: Guarded) => head(call, guarded).catch((error: unknown) => fail(call, error)),
    receive,
    takesPost,
  };
}

export type Gate = ReturnType<typeof createGate>;

function isLimited({ terms }: Link): boolean {
  return terms?.maxVisits !== undefined;
}

/** Not even where shared caches may keep the redirects of other links. */
const NEVER_KEPT = { "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" };

function redirect(status: 302 | 303, { target }: Link): Response {
  return answer({ status, headers: { ...NEVER_KEPT, Location: target } });
}
