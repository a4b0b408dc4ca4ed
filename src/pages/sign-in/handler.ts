import { serialize } from "hono/utils/cookie";

import type { Call, Handler } from "../../http/call.ts";
import { describe, type HttpProblem, problemJson } from "../../http/problems.ts";
import { answer, html } from "../../http/responses.ts";
import { cookiesOf } from "../../http/signed-cookie.ts";
import type { Clock } from "../../links/clock.ts";
import { isProblem } from "../../links/problem.ts";
import { message } from "../../locales/messages.ts";
import { type AdminToken, SESSION_MS } from "../../moderation/access-tokens.ts";
import { isFromAnotherSite, readFields } from "../shared/form-data.ts";
import { signInPage } from "./page.tsx";

const COOKIE = "operator";
/** Of the form that takes the token. */
const MAX_BYTES = 2048;

export interface SignInOptions {
  readonly token: AdminToken;
  readonly clock: Pick<Clock, "nowMs">;
  /** Counts a wrong token; the problem is that there were too many. */
  readonly onWrong: (call: Call) => HttpProblem;
}

/** The door to the operator's pages: a form takes the token, and a cookie keeps the session. */
export function createSignIn({ token, clock, onWrong }: SignInOptions) {
  function sessionOf(call: Call): string | undefined {
    return cookiesOf(call, COOKIE).find((session) => token.isOpen(session, clock.nowMs()));
  }

  return {
    /** A page. `formToken` is what its forms must send. Anyone who is not signed in gets the form to do so. */
    page:
      (show: (call: Call, formToken: string) => Promise<Response>): Handler =>
      (call) => {
        const session = sessionOf(call);
        return session === undefined
          ? askFor(call, { kind: "operator.missing" })
          : show(call, token.formToken(session));
      },

    /** Reads a form. It only acts if one of our own pages sent it, in the same session. */
    form:
      (act: (call: Call, sent: URLSearchParams, formToken: string) => Promise<Response>): Handler =>
      async (call) => {
        const session = sessionOf(call);
        if (session === undefined) return seeOther("/admin");
        const sent = await readFields(call.request);
        if (isProblem(sent)) return problemJson(call, sent);
        const formToken = token.formToken(session);
        const isOurs = !isFromAnotherSite(call) && sent.get("form") === formToken;
        return isOurs ? act(call, sent, formToken) : problemJson(call, { kind: "cross-site" });
      },

    async signIn(call: Call): Promise<Response> {
      call.client();
      // Read for anyone, so it has to be short.
      if (!(Number(call.headers.get("content-length") ?? Number.NaN) <= MAX_BYTES))
        return problemJson(call, { kind: "body.too-large", max: MAX_BYTES });
      const sent = await readFields(call.request);
      if (isProblem(sent)) return problemJson(call, sent);
      if (isFromAnotherSite(call)) return problemJson(call, { kind: "cross-site" });
      // A right token opens, whatever was tried before: wrong ones keep nobody out.
      if (!token.isRight((sent.get("token") ?? "").trim())) return askFor(call, onWrong(call), true);
      return seeOther("/admin", cookieOf(call, token.startSession(clock.nowMs()), SESSION_MS / 1000));
    },

    signOut: (call: Call) =>
      isFromAnotherSite(call)
        ? problemJson(call, { kind: "cross-site" })
        : seeOther("/admin", cookieOf(call, "", 0)),
  };
}

export type SignIn = ReturnType<typeof createSignIn>;

/** Made on the serving thread, so that nobody who fills the queue for pages keeps the operator from signing in. */
function askFor(call: Call, problem: HttpProblem, isRefused = false): Response {
  const { status, headers, messages } = describe(problem);
  const [told] = messages;
  return html(
    call,
    status,
    (language) =>
      signInPage(language, isRefused && told ? message(language, told.key, told.values) : undefined),
    headers,
  );
}

/** No other site's page can use it, and no script reads it. */
function cookieOf({ domain }: Call, session: string, maxAge: number): string {
  const secure = domain.origin.startsWith("https:");
  return serialize(COOKIE, session, { path: "/admin", maxAge, httpOnly: true, sameSite: "Strict", secure });
}

export function seeOther(path: string, cookie?: string): Response {
  const headers = { Location: path, "Cache-Control": "no-store" };
  return answer({
    status: 303,
    headers: { ...headers, ...(cookie !== undefined && { "Set-Cookie": cookie }) },
  });
}
