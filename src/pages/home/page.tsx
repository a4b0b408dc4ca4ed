/** @jsxImportSource ../shared/html */
import type { Page } from "../../http/page.ts";
import { message, type MessageKey, type Values } from "../../locales/messages.ts";
import { CreatedHere } from "../my-links/link-list.tsx";
import { describedBy, FieldError, Label, Notice, TextField, VERBATIM } from "../shared/form-fields.tsx";
import { duration } from "../shared/in-words.ts";
import { FORM, page } from "../shared/layout.tsx";
import { Fact } from "../shared/link-facts.tsx";
import { Example } from "./example.tsx";
import { Ends, FIELDS, type Home, Options, type TakenCode } from "./fields.tsx";

export function homePage(language: string, home: Home): Page {
  const { baseUrl, form, notice, offers = [], isUnderstood = false, taken } = home;
  const errors = {
    ...home.errors,
    ...(taken !== undefined && { custom_code: message(language, "home.taken") }),
  };
  const intro = message(language, "home.intro");
  const base = `${baseUrl.replace(/^https?:\/\//, "")}/`;
  const invalidFields = ([FIELDS[0], "token", ...FIELDS.slice(1)] as const).filter(
    (field) => field in errors,
  );
  const focused = invalidFields[0] ?? "original_url";
  const head = {
    title: message(language, invalidFields.length > 0 ? "home.title.refused" : "home.title"),
    card: { description: intro, origin: new URL(baseUrl).origin, path: FORM },
  };
  return page(
    language,
    head,
    <>
      <h1 class="display">{message(language, "home.heading")}</h1>
      <p class="lead">{intro}</p>
      <Notice text={notice} />
      <form class="columns wide" method="post" action={`${FORM}${queryOfLanguage(home.chosen)}`} data-make>
        {/* Enter presses the first button of the form, which mustn't be one of our offers. */}
        <button class="unseen" tabindex={-1} aria-hidden="true"></button>
        <div>
          <div class="field">
            <label for="original_url">{message(language, "home.url")}</label>
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
            <FieldError field="original_url" errors={errors}>
              <Offers
                name="meant"
                values={offers}
                say={(url) => message(language, "home.offer", { url: beginningOf(url) })}
              />
            </FieldError>
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
            <Label name="custom_code" text={message(language, "home.code")} />
            <label class="prefixed" for="custom_code">
              <bdi dir="ltr">{base}</bdi>
              <input
                {...{ id: "custom_code", name: "custom_code", value: form.custom_code, type: "text" }}
                placeholder=" "
                {...VERBATIM}
                {...describedBy("custom_code", errors, "custom_code-hint")}
                autofocus={focused === "custom_code"}
              />
            </label>
            <div class="below">
              <FieldError field="custom_code" errors={errors}>
                {taken !== undefined && <OtherCodes language={language} taken={taken} />}
              </FieldError>
              <p class="hint">
                <output
                  {...{ id: "custom_code-hint", for: "custom_code", "data-check": "/api/v1/codes/" }}
                  data-taken={message(language, "home.taken")}
                  data-see={message(language, "home.taken.see")}
                  data-free={message(language, "home.taken.free")}
                  data-available={message(language, "home.free")}
                >
                  {message(language, "home.code.hint")}
                </output>
              </p>
            </div>
          </div>
        </div>
        <div>
          <Ends language={language} {...home} errors={errors} focused={focused} />
          <Options language={language} {...home} errors={errors} focused={focused} />
          <input type="hidden" name="zone" value={form.zone} autocomplete="off" />
          <input type="hidden" name="form" value={form.form} autocomplete="off" data-secret />
          <p class="send">
            <button class="primary" data-copies={message(language, "home.make.copy")}>
              {message(language, "home.make")}
            </button>{" "}
            {!home.needsToken && home.createUserHeader === null && (
              <span class="hint">{message(language, "home.fact.account")}</span>
            )}
          </p>
        </div>
        <div class="beside">
          <Example language={language} {...home} />
          <Promises language={language} {...home} />
        </div>
      </form>
      <CreatedHere language={language} baseUrl={baseUrl} />
    </>,
  );
}

/** How the links of this service behave, which depends on its settings. */
function Promises({ language, edits, codeHoldMs, defaultExpiry }: Home & { readonly language: string }) {
  const say = (key: MessageKey, values?: Values) => message(language, key, values);
  const held = duration(language, codeHoldMs);
  return (
    <div class="promises">
      <p>{say("home.word")}</p>
      <dl>
        <Fact name={say("home.word.saved")}>{say("home.word.saved.how")}</Fact>
        <Fact name={say("home.word.changes")}>{say(`home.word.changes.${edits}`)}</Fact>
        {codeHoldMs > 0 && (
          <Fact name={say(defaultExpiry === "never" ? "home.word.never" : "home.word.ends")}>
            {say("home.word.held", { held })}
          </Fact>
        )}
      </dl>
    </div>
  );
}

/** Carries the language in the address of a page on to the next page. */
export function queryOfLanguage(chosen: string | undefined): string {
  return chosen === undefined ? "" : `?language=${chosen}`;
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
