import type { Call, Handler } from "../../http/call.ts";
import { endpoint } from "../../http/endpoint.ts";
import { describe, type HttpProblem, problemJson } from "../../http/problems.ts";
import { html } from "../../http/responses.ts";
import { BODIES, type AnyBody, cookies, type Fields } from "../../lib/bounds.ts";
import type { Clock } from "../../links/clock.ts";
import { isProblem } from "../../links/problem.ts";
import { HOUR_MS } from "../../links/time.ts";
import { message } from "../../locales/messages.ts";
import { type AdminToken, digestOf, SESSION_MS } from "../../moderation/access-tokens.ts";
import type { ModerationStore } from "../../moderation/store.ts";
import { isFromAnotherSite, readForm, seeOther } from "../forms.ts";
import { signInPage } from "./page.tsx";

const COOKIE = "operator";
/** Clocks of machines differ by less. So an ended session is over for all of them before it is forgotten. */
const CLOCKS_DIFFER_MS = HOUR_MS;

export interface SignInOptions {
  readonly token: AdminToken;
  readonly clock: Pick<Clock, "nowMs" | "trustworthy">;
  readonly store: Pick<ModerationStore, "endSession" | "isSessionEnded">;
  /** Counts a wrong token, and returns the problem if there were too many. */
  readonly onWrong: (call: Call) => HttpProblem;
}

/** Answers a request in a session, whose forms must send `formToken`. */
export type ServePage = (call: Call, formToken: string) => Promise<Response>;
export type ServeForm = (call: Call, fields: Fields, formToken: string) => Promise<Response>;

/** Signs the operator in: a form takes the token, and a cookie keeps the session. All reject if the store can't be read. */
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

export function createSignIn({ token, clock, store, onWrong }: SignInOptions): SignIn {
  const signedSessions = (call: Call) =>
    cookies(call.headers, COOKIE).filter((session) => token.isOpen(session, clock.nowMs()));

  /** The first session that is open. */
  async function sessionOf(call: Call): Promise<string | undefined> {
    for (const session of signedSessions(call))
      if (!(await store.isSessionEnded(digestOf(session)))) return session;
    return undefined;
  }

  return {
    page: (show) => async (call) => {
      const session = await sessionOf(call);
      return session === undefined
        ? askFor(call, { kind: "operator.missing" })
        : show(call, token.formToken(session));
    },

    form: (body, act) => async (call) => {
      const session = await sessionOf(call);
      if (session === undefined) return seeOther("/admin");
      const fields = await readForm(call.request, body);
      if (isProblem(fields)) return problemJson(call, fields);
      const formToken = token.formToken(session);
      const isOurs = !isFromAnotherSite(call) && fields.get("form") === formToken;
      return isOurs ? act(call, fields, formToken) : problemJson(call, { kind: "cross-site" });
    },

    async start(call) {
      const fields = await readForm(call.request, BODIES["POST /admin"]);
      if (isProblem(fields)) return problemJson(call, fields);
      if (isFromAnotherSite(call)) return problemJson(call, { kind: "cross-site" });
      // Wrong tokens must not lock the operator out, so a right one always works.
      if (!token.isRight((fields.get("token") ?? "").trim())) return askFor(call, onWrong(call), true);
      return seeOther("/admin", cookieOf(call, token.startSession(clock.nowMs()), SESSION_MS / 1000));
    },

    async end(call) {
      if (isFromAnotherSite(call)) return problemJson(call, { kind: "cross-site" });
      const nowMs = clock.nowMs();
      const forgetByMs = clock.trustworthy() ? nowMs - CLOCKS_DIFFER_MS : 0;
      for (const session of signedSessions(call))
        await store.endSession({ digest: digestOf(session), endsMs: nowMs + SESSION_MS }, forgetByMs);
      return seeOther("/admin", cookieOf(call, "", 0));
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
    status,
    (language) =>
      signInPage(language, isRefused && first ? message(language, first.key, first.values) : undefined),
    headers,
  );
}

/** Browsers don't send it from other sites, and scripts can't read it. */
function cookieOf({ domain }: Call, session: string, maxAge: number): string {
  const secure = domain.origin.startsWith("https:");
  const options = { path: "/admin", maxAge, httpOnly: true, sameSite: "strict", secure } as const;
  return new Bun.Cookie(COOKIE, session, options).serialize();
}
