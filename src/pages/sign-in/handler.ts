import type { Call, Handler } from "../../http/call.ts";
import { isFromAnotherSite, type ReadUser } from "../../http/credentials.ts";
import { endpoint } from "../../http/endpoint.ts";
import { describe, type HttpProblem, problemJson } from "../../http/problems.ts";
import { answer, html, KEPT_FOR_BACK } from "../../http/responses.ts";
import { BODIES, type AnyBody, cookies, type Fields } from "../../lib/bounds.ts";
import type { Clock } from "../../links/clock.ts";
import { isProblem } from "../../links/problem.ts";
import type { Secret } from "../../links/secret.ts";
import { HOUR_MS } from "../../links/time.ts";
import { message } from "../../locales/messages.ts";
import { type AccessTokens, digestOf, SESSION_MS } from "../../moderation/access-tokens.ts";
import type { ModerationStore } from "../../moderation/moderation-store.ts";
import { readForm, seeOther } from "../forms.ts";
import { signInPage } from "./page.tsx";

const COOKIE = "operator";
/** Clocks of machines differ by less. So an ended session is over for all of them before it is forgotten. */
const CLOCKS_DIFFER_MS = HOUR_MS;

export interface SignInOptions {
  readonly tokens: AccessTokens;
  readonly readUser: ReadUser;
  /** Where people sign out whom a proxy has signed in. */
  readonly signOutUrl: string | null;
  readonly secret: Pick<Secret, "hash">;
  readonly clock: Pick<Clock, "nowMs" | "trustworthy">;
  readonly store: Pick<ModerationStore, "endSession" | "isSessionEnded">;
  /** Counts a wrong token, and returns the problem if there were too many. */
  readonly onWrong: (call: Call) => HttpProblem;
}

/** Answers a request in a session, whose forms must send `formToken`. */
export type ServePage = (call: Call, formToken: string) => Promise<Response>;
type ServeForm = (call: Call, fields: Fields, formToken: string) => Promise<Response>;

/**
 * Signs operators in: a form takes a token, and a cookie keeps the session, unless a proxy has signed in the operator. All
 * reject if the store can't be read.
 */
export interface SignIn {
  /** A page. Without a session, it shows the sign-in form. */
  page(show: ServePage): Handler;
  /** A form. It only acts if one of our own pages sends it, in the same session. */
  form(body: AnyBody, act: ServeForm): Handler;
  /** Takes the sign-in form, and starts a session if its token is right. */
  readonly start: Handler;
  /** Ends the session, also for copies of its cookie. */
  readonly end: Handler;
}

export function createSignIn(options: SignInOptions): SignIn {
  const { tokens, readUser, signOutUrl, secret, clock, store, onWrong } = options;
  const signedSessions = (call: Call) =>
    cookies(call.headers, COOKIE).flatMap((session) => {
      const token = tokens.findBySession(session, clock.nowMs());
      return token === undefined ? [] : [{ session, token }];
    });

  /** Finds the operator who sends a call. Returns the token of that operator's forms. */
  async function formTokenOf(call: Call): Promise<string | HttpProblem | undefined> {
    const user = readUser(call);
    if (isProblem(user)) return user;
    call.by = user;
    if (user !== undefined) return secret.hash("form", [user]);
    for (const { session, token } of signedSessions(call)) {
      if (await store.isSessionEnded(digestOf(session))) continue;
      call.by = token.name;
      return tokens.formToken(token, session);
    }
    return undefined;
  }

  return {
    page: (show) => async (call) => {
      const formToken = await formTokenOf(call);
      if (isProblem(formToken)) return askFor(call, formToken, true);
      return formToken === undefined ? askFor(call, { kind: "operator.missing" }) : show(call, formToken);
    },

    form: (body, act) => async (call) => {
      // Before the session: access may end while the body arrives.
      const fields = await readForm(call.request, body);
      if (isProblem(fields)) return problemJson(call, fields);
      const formToken = await formTokenOf(call);
      if (isProblem(formToken)) return problemJson(call, formToken);
      if (formToken === undefined) return seeOther("/admin");
      const isOurs = !isFromAnotherSite(call) && fields.get("form") === formToken;
      return isOurs ? act(call, fields, formToken) : problemJson(call, { kind: "cross-site" });
    },

    async start(call) {
      const fields = await readForm(call.request, BODIES["POST /admin"]);
      if (isProblem(fields)) return problemJson(call, fields);
      if (isFromAnotherSite(call)) return problemJson(call, { kind: "cross-site" });
      // Wrong tokens must not lock the operator out, so a right one always works.
      const token = tokens.find((fields.get("token") ?? "").trim());
      if (token === undefined) return askFor(call, onWrong(call), true);
      const session = tokens.startSession(token, clock.nowMs());
      return seeOther("/admin", operatorCookie(call, COOKIE, session, SESSION_MS / 1000));
    },

    async end(call) {
      if (isFromAnotherSite(call)) return problemJson(call, { kind: "cross-site" });
      const nowMs = clock.nowMs();
      const forgetByMs = clock.trustworthy() ? nowMs - CLOCKS_DIFFER_MS : 0;
      for (const { session } of signedSessions(call))
        await store.endSession({ digest: digestOf(session), endsMs: nowMs + SESSION_MS }, forgetByMs);
      const cookie = operatorCookie(call, COOKIE, "", 0);
      if (signOutUrl === null || typeof readUser(call) !== "string") return seeOther("/admin", cookie);
      // Our Content-Security-Policy blocks redirects of a form to another origin.
      return answer({ headers: { Refresh: `0; url=${signOutUrl}`, "Set-Cookie": cookie } });
    },
  };
}

interface SignInParts {
  readonly signIn: SignIn;
}

export const signIn = endpoint({
  at: "POST /admin",
  cost: "little",
  serve: ({ signIn: { start } }: SignInParts) => start,
});

export const signOut = endpoint({
  at: "POST /admin/sign-out",
  cost: "little",
  serve: ({ signIn: { end } }: SignInParts) => end,
});

/** On the serving thread, so that a full queue of pages doesn't keep the operator from signing in. */
function askFor(call: Call, problem: HttpProblem, isRefused = false): Response {
  const { status, headers, messages } = describe(problem);
  const [first] = messages;
  return html(
    call,
    // Chromium shows nothing after Back to a form that was answered with 401.
    isRefused && status === 401 ? 403 : status,
    (language) =>
      signInPage(language, isRefused && first ? message(language, first.key, first.values) : undefined),
    { ...headers, ...(isRefused && KEPT_FOR_BACK) },
  );
}

/** Browsers don't send it from other sites, and scripts can't read it. */
export function operatorCookie({ domain }: Call, name: string, value: string, maxAge: number): string {
  const secure = domain.origin.startsWith("https:");
  const options = { path: "/admin", maxAge, httpOnly: true, sameSite: "strict", secure } as const;
  return new Bun.Cookie(name, value, options).serialize();
}
