import type { Call } from "../../http/call.ts";
import { createSignedCookie } from "../../http/credentials.ts";
import type { Try, TryPassword } from "../../http/limits/password-tries.ts";
import { describe, type HttpProblem, problemJson } from "../../http/problems.ts";
import { FORM_REDIRECTS_ELSEWHERE, html, KEPT_FOR_BACK, prefersHtml } from "../../http/responses.ts";
import { pathOf, visitorQuery } from "../../http/url.ts";
import { header } from "../../lib/bounds.ts";
import type { MonotonicClock, WallClock } from "../../links/clock.ts";
import { shownCode, type Link } from "../../links/link.ts";
import type { Secret } from "../../links/secret.ts";
import { checkPassword } from "../../links/terms/password.ts";
import { hasRightLength } from "../../links/terms/term-values.ts";
import { passwordPage, type Refusal } from "./page.tsx";

export const OPEN_MS = 15 * 60_000;
/** Until one of the present checks has finished. */
const BUSY_SECONDS = 1;
/** How long and how many right passwords are remembered, at about 300 bytes each. */
export const REMEMBERED_MS = 5 * 60_000;
const MAX_REMEMBERED = 10_000;

/** A path of RFC 6265, section 4.1.1, in ASCII: HTTP/1.0 without Host has raw paths. */
const COOKIE_PATH = /^[\x21-\x3A\x3C-\x7E]+$/;

interface Check {
  readonly untilMs: number;
  /** Undefined if too many checks were waiting. */
  readonly isRight: Promise<boolean | undefined>;
}

export interface PasswordsOptions {
  readonly secret: Pick<Secret, "hash">;
  readonly clock: MonotonicClock & WallClock;
  readonly tryPassword: TryPassword;
}

/** Checks the passwords of links, and remembers in a cookie who knew one. */
export interface Passwords {
  /** Whether the request has the cookie of the link's present password. */
  isRemembered(call: Call, link: Link): boolean;
  /** A cookie for this link only, at the spelling of its address that the browser uses. */
  remember(call: Call, link: Link): string;
  /** Asks for the password. */
  require(call: Call, link: Link): Response;
  /** Undefined if the password is right. Counts wrong ones. */
  refusalOf(call: Call, link: Link, given: string): Promise<Response | undefined>;
}

export function createPasswords({ secret, clock, tryPassword }: PasswordsOptions): Passwords {
  const cookie = createSignedCookie(
    { secret, clock },
    { name: "password", lastsMs: OPEN_MS, sameSite: "lax" },
  );
  /** Each password of each link has its own cookie. */
  const partsOf = ({ code, createdMs, terms }: Link) => [code, createdMs, terms?.passwordHash ?? ""];

  function refuse(call: Call, link: Link, problem: HttpProblem, refusal?: Refusal): Response {
    const { baseUrl } = call.domain;
    const code = shownCode(link);
    const Vary = "Accept, Accept-Language, Cookie, Authorization, Sec-Fetch-Site";
    if (!isBrowser(call)) return problemJson(call, problem, { Vary });
    const { status, headers } = describe(problem);
    const sent = visitorQuery(call.request, link);
    return html(
      call,
      status,
      (language) => passwordPage(language, { baseUrl, code, refusal, form: crypto.randomUUID(), sent }),
      {
        ...headers,
        ...FORM_REDIRECTS_ELSEWHERE,
        Vary,
        ...(call.request.method === "POST" && KEPT_FOR_BACK),
      },
    );
  }

  /** Checks in progress and right passwords, by keyed hash, the oldest first. */
  const checks = new Map<string, Check>();

  /** Simultaneous visitors with the same password share a check; later ones need none. */
  function check(link: Link, given: string, attempt: Try): Check["isRight"] {
    const key = secret.hash("password-check", [...partsOf(link), given.normalize("NFC")]);
    const nowMs = clock.monotonicMs();
    const known = checks.get(key);
    if (known !== undefined && nowMs < known.untilMs) return known.isRight;
    attempt.countCheck();
    const isRight = checkPassword(given, link.terms?.passwordHash ?? "", attempt.sharers);
    checks.delete(key);
    checks.set(key, { untilMs: nowMs + REMEMBERED_MS, isRight });
    const [oldest] = checks.keys();
    if (checks.size > MAX_REMEMBERED && oldest !== undefined) checks.delete(oldest);
    const forget = () => checks.delete(key);
    isRight.then((right) => right === true || forget(), forget);
    return isRight;
  }

  /** Browsers get the form. A challenge would open their own dialog, and keeps lynx from showing the page. */
  const passwordProblem = (call: Call, link: Link, kind: "password.missing" | "password.wrong") => ({
    kind,
    ...(!isBrowser(call) && { shortUrl: call.domain.shortUrl(shownCode(link)) }),
  });

  return {
    isRemembered: (call, link) => cookie.isRight(call, partsOf(link)),

    remember(call, link) {
      // Without the path that the link may pass on.
      const [path = ""] = /^\/[^/]*/.exec(pathOf(call.request)) ?? [];
      return cookie.create(
        call,
        COOKIE_PATH.test(path) ? path : `/${encodeURIComponent(link.code)}`,
        partsOf(link),
      );
    },

    require: (call, link) => refuse(call, link, passwordProblem(call, link, "password.missing")),

    async refusalOf(call, link, given) {
      // First, because a client over the limit must not learn which password is right.
      const attempt = tryPassword(call, link);
      if (attempt instanceof Promise) {
        const limited = await attempt;
        return refuse(call, link, limited, limited);
      }
      let isRight: boolean | undefined;
      try {
        isRight = hasRightLength(given) && (await check(link, given, attempt));
      } catch (error) {
        attempt.undo();
        throw error;
      }
      if (isRight === true) {
        attempt.undo();
        return undefined;
      }
      if (isRight === undefined) {
        // It stays counted, because the response reveals that this password isn't remembered.
        const limited = { kind: "limited", limit: "password", seconds: BUSY_SECONDS } as const;
        return refuse(call, link, limited, limited);
      }
      return refuse(call, link, passwordProblem(call, link, "password.wrong"), {
        kind: "wrong",
        ...attempt.remaining(),
      });
    },
  };
}

/** Also what loads a link as an image, for example. */
function isBrowser({ headers }: Call): boolean {
  return prefersHtml(header(headers, "accept")) || headers.has("sec-fetch-site");
}

/** The password in `Authorization: Basic`, whatever the user name (RFC 7617, section 2). */
export function basicPassword(headers: Headers): string | undefined {
  const [, credentials] = /^Basic +([\w+/=-]+)$/i.exec(header(headers, "authorization")?.trim() ?? "") ?? [];
  if (credentials === undefined) return undefined;
  const text = Buffer.from(credentials, "base64").toString("utf8");
  return text.slice(text.indexOf(":") + 1);
}
