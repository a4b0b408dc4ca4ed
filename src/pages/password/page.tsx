/** @jsxImportSource ../shared/html */
import type { Page } from "../../http/page.ts";
import { memoize } from "../../lib/memoize.ts";
import { message, sentenceSpace } from "../../locales/messages.ts";
import { whenIn } from "../../locales/relative-time.ts";
import { page } from "../shared/layout.tsx";

/** Why the last password was refused. `seconds` is the time until the next attempt. */
export type Refusal =
  | { readonly kind: "wrong"; readonly tries: number; readonly seconds: number }
  | { readonly kind: "limited"; readonly seconds: number };

/** Asks for the password of the link at this address. All links share this page, so it is memoized. */
export function passwordPage(language: string, refusal?: Refusal): Page {
  return memoizedPage(JSON.stringify([language, refusal && describeRefusal(language, refusal)]));
}

const memoizedPage = memoize((key) => render(...(JSON.parse(key) as [string, string | null])));

function describeRefusal(language: string, refusal: Refusal): string {
  const later = () => message(language, "password.limited", { when: whenIn(language, refusal.seconds) });
  if (refusal.kind === "limited") return later();
  const wrong = message(language, "password.wrong");
  if (refusal.tries === Number.POSITIVE_INFINITY) return wrong;
  return `${wrong}${sentenceSpace(language)}${refusal.tries > 0 ? message(language, "password.left", { count: refusal.tries }) : later()}`;
}

function render(language: string, refusal: string | null): Page {
  const title = message(language, "password.title");
  return page(
    language,
    { title },
    <>
      <h1>{title}</h1>
      <p class="soft">{message(language, "password.ask")}</p>
      <form method="post">
        <div class="field">
          <label for="password">{message(language, "password.label")}</label>
          {/* A browser that saved the password would offer it for every other link. */}
          <input
            {...{ id: "password", name: "password", type: "password", autocomplete: "off" }}
            {...(refusal !== null && { "aria-invalid": "true" })}
            aria-describedby={refusal === null ? "password-hint" : "password-error password-hint"}
            required
            autofocus
          />
          {refusal !== null && (
            <p class="error" id="password-error" role="alert">
              {refusal}
            </p>
          )}
          <p class="hint" id="password-hint">
            {message(language, "password.remembered")}
          </p>
        </div>
        <button class="primary">{message(language, "password.open")}</button>
      </form>
    </>,
  );
}
