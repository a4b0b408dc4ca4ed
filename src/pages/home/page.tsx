/** @jsxImportSource ../shared/html */
import type { Page } from "../../http/page.ts";
import { message } from "../../locales/messages.ts";
import { CreatedHere } from "../my-links/link-list.tsx";
import { describedBy, FieldError, Notice, TextField, VERBATIM } from "../shared/fields.tsx";
import { page } from "../shared/layout.tsx";
import { Example } from "./example.tsx";
import { FIELDS, type Home, Options, type TakenCode } from "./fields.tsx";

const FACTS = ["home.fact.account", "home.fact.plus", "home.fact.codes"] as const;

export function homePage(language: string, home: Home): Page {
  const { baseUrl, form, notice, offers = [], isUnderstood = false, taken } = home;
  const errors = {
    ...(taken !== undefined && { custom_code: message(language, "taken") }),
    ...home.errors,
  };
  const intro = message(language, "home.intro");
  const base = `${baseUrl.replace(/^https?:\/\//, "")}/`;
  const invalidFields = ([FIELDS[0], "token", ...FIELDS.slice(1)] as const).filter(
    (field) => field in errors,
  );
  const focused = invalidFields[0] ?? "original_url";
  const head = {
    title: message(language, invalidFields.length > 0 ? "home.title.refused" : "home.title"),
    card: { description: intro, origin: new URL(baseUrl).origin, path: "/" },
  };
  return page(
    language,
    head,
    <>
      <h1>{message(language, "home.heading")}</h1>
      <p class="lead">{intro}</p>
      <Notice text={notice} />
      <form method="post" action="/" data-make>
        <div class="field">
          <label for="original_url">{message(language, "home.url")}</label>
          <div class="large">
            <input
              {...{ id: "original_url", name: "original_url", value: form.original_url, type: "text" }}
              {...VERBATIM}
              {...describedBy("original_url", errors, "understood")}
              autofocus={invalidFields[0] === "original_url"}
              inputmode="url"
              placeholder="https://"
              aria-required="true"
              data-focus
            />
            {/* Enter presses the first button of the form, so this must be first. */}
            <button class="primary">{message(language, "home.make")}</button>
            <FieldError field="original_url" errors={errors}>
              <Offers
                name="meant"
                values={offers}
                say={(url) => message(language, "home.offer", { url: beginningOf(url) })}
              />
            </FieldError>
          </div>
          <p class="hint" id="understood" data-understood hidden={!isUnderstood}>
            {message(language, "home.understood")}
          </p>
        </div>
        {home.needsToken && (
          <div data-token>
            <TextField
              name="token"
              label={message(language, "home.token")}
              hint={message(language, "home.token.hint")}
              errors={errors}
              input={{
                type: "password",
                autocomplete: "current-password",
                autofocus: focused === "token",
                required: home.createUserHeader === null,
                "data-secret": true,
              }}
            />
          </div>
        )}
        <div class="field">
          <label for="custom_code">{message(language, "home.code")}</label>
          <div class="prefixed">
            <span id="custom_code-base">
              <bdi dir="ltr">{base}</bdi>
            </span>
            <input
              {...{ id: "custom_code", name: "custom_code", value: form.custom_code, type: "text" }}
              placeholder=" "
              {...VERBATIM}
              {...describedBy("custom_code", errors, "custom_code-base custom_code-hint")}
              autofocus={focused === "custom_code"}
            />
          </div>
          <FieldError field="custom_code" errors={errors}>
            {taken !== undefined && <OtherCodes language={language} taken={taken} />}
          </FieldError>
          <p class="hint">
            <output
              {...{ id: "custom_code-hint", for: "custom_code", "data-check": "/api/v1/codes/" }}
              data-see={message(language, "home.taken.see")}
              data-free={message(language, "home.taken.free")}
            >
              {message(language, "home.code.hint")}
            </output>
          </p>
        </div>
        <Options language={language} {...home} errors={errors} focused={focused} />
        <input type="hidden" name="zone" value={form.zone} autocomplete="off" />
        {/* On narrow screens, the button follows the fields. */}
        <button class="primary last">{message(language, "home.make")}</button>
      </form>
      <p class="lifetime">
        {FACTS.map((key) => (
          <span>{message(language, key)}</span>
        ))}
      </p>
      <Example language={language} baseUrl={baseUrl} />
      <CreatedHere language={language} baseUrl={baseUrl} />
    </>,
  );
}

/** Enough characters to recognise a long address. */
function beginningOf(url: string): string {
  const [beginning] = /^.{0,80}/su.exec(url) ?? [""];
  return beginning === url ? url : `${beginning}…`;
}

interface OffersProps {
  readonly name: string;
  readonly values: readonly string[];
  readonly say?: (value: string) => string;
}

function Offers({ name, values, say = (value) => value }: OffersProps) {
  if (values.length === 0) return <></>;
  return (
    <div class="offers">
      {values.map((value) => (
        <button name={name} value={value}>
          <bdi>{say(value)}</bdi>
        </button>
      ))}
    </div>
  );
}

function OtherCodes({ language, taken: { code, free } }: { language: string; taken: TakenCode }) {
  return (
    <>
      <p class="hint">
        {/* The form stays open. */}
        <a href={`/${encodeURIComponent(code)}+`} target="_blank" rel="noreferrer">
          {message(language, "home.taken.see")}
        </a>{" "}
        {free.length > 0 && message(language, "home.taken.free")}
      </p>
      <Offers name="instead" values={free} />
    </>
  );
}
