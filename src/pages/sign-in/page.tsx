/** @jsxImportSource ../shared/html */
import type { Page } from "../../http/page.ts";
import { memoize } from "../../lib/memoize.ts";
import { message } from "../../locales/messages.ts";
import { TextField } from "../shared/form-fields.tsx";
import { page } from "../shared/layout.tsx";

/**
 * Asks for the operator's token. `refusal` is the problem with the last one. Everybody may open this page, so it is
 * memoized.
 */
export function signInPage(language: string, refusal = ""): Page {
  return memoizedPage(`${language} ${refusal}`);
}

const memoizedPage = memoize((key) => {
  const [language = ""] = key.split(" ", 1);
  const refusal = key.slice(language.length + 1);
  const title = message(language, "admin.sign-in.title");
  return page(
    language,
    { title },
    <div class="columns wide">
      <div>
        <h1>{title}</h1>
        <form class="card sign-in" method="post" action="/admin" novalidate>
          <TextField
            name="token"
            label={message(language, "admin.token")}
            errors={refusal === "" ? {} : { token: refusal }}
            input={{ type: "password", autocomplete: "current-password", autofocus: true }}
          />
          <button class="primary">{message(language, "admin.sign-in")}</button>
        </form>
      </div>
      <aside class="help">
        <p>{message(language, "sign-in.lead")}</p>
        <h2>{message(language, "sign-in.where")}</h2>
        <p>{message(language, "sign-in.where.text")}</p>
        <h2>{message(language, "sign-in.lost")}</h2>
        <p>{message(language, "sign-in.lost.text")}</p>
      </aside>
    </div>,
  );
});
