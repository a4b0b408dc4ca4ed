/** @jsxImportSource ../shared/html */
import { DURATIONS, type Expiry } from "../../links/time.ts";
import { message } from "../../locales/messages.ts";
import { DateField } from "../shared/date-field.tsx";
import { described, FieldError } from "../shared/field.tsx";
import type { Home } from "./page.tsx";

/** For fields that hold addresses and codes, not prose: turns off the browser's corrections. */
export const ATTRIBUTES = {
  type: "text",
  autocomplete: "off",
  autocapitalize: "none",
  spellcheck: false,
} as const;

interface FieldsProps extends Pick<Home, "form" | "errors"> {
  readonly language: string;
  readonly focused: string;
}

type EndsProps = FieldsProps & Pick<Home, "defaultExpiry">;

/** When the link ends. The date is asked for where it is chosen, or always by browsers that cannot tell. */
export function Ends({ language, defaultExpiry, form, errors, focused }: EndsProps) {
  const chosen = form.expire_duration || defaultExpiry;
  const isDate = chosen === "date";
  return (
    <fieldset class="field ends">
      <legend>{message(language, "home.ends")}</legend>
      <div class="choices">
        {choices(defaultExpiry).map((choice) => (
          <label>
            <input
              type="radio"
              name="expire_duration"
              value={choice === "never" ? "" : choice}
              checked={choice === chosen}
            />
            <span>{message(language, choice === "never" ? "never" : `duration.${choice}`)}</span>
          </label>
        ))}
      </div>
      <div class="date">
        <DateField
          language={language}
          name="expires"
          field="expires"
          label="home.expires"
          value={form.expires}
          zone={form.zone}
          errors={errors}
          isFocused={focused === "expires"}
        >
          {isDate && <FieldError field="expires" errors={errors} />}
        </DateField>
      </div>
      {!isDate && <FieldError field="expires" errors={errors} />}
      <FieldError field="expire_duration" errors={errors} />
    </fieldset>
  );
}

/** Links without a chosen expiry get the operator's default. So "never" is only possible if it is the default. */
function choices(defaultExpiry: Expiry): (Expiry | "date")[] {
  return [...(defaultExpiry === "never" ? (["never"] as const) : []), ...DURATIONS, "date"];
}

/** What few links need. */
export function MoreChoices({ language, form, errors, focused }: FieldsProps) {
  const isUsed = (["starts", "max_visits", "password"] as const).some(
    (field) => form[field] || errors[field],
  );
  return (
    <details class="field more" open={isUsed}>
      <summary>{message(language, "home.more")}</summary>
      <div class="field">
        <DateField
          language={language}
          name="starts"
          field="starts"
          label="home.starts"
          hint="home.starts.hint"
          value={form.starts}
          zone={form.zone}
          errors={errors}
          isFocused={focused === "starts"}
        >
          <FieldError field="starts" errors={errors} />
        </DateField>
      </div>
      <div class="field">
        <label for="max_visits">{message(language, "home.max-visits")}</label>
        <input
          {...{ id: "max_visits", name: "max_visits", value: form.max_visits, inputmode: "numeric" }}
          {...ATTRIBUTES}
          {...described("max_visits", errors, "max_visits-hint")}
          autofocus={focused === "max_visits"}
        />
        <FieldError field="max_visits" errors={errors} />
        <p class="hint" id="max_visits-hint">
          {message(language, "home.max-visits.hint")}
        </p>
      </div>
      <div class="field">
        <label for="password">{message(language, "home.password")}</label>
        {/* Its maker passes it on, so it must be seen. */}
        <input
          {...{ id: "password", name: "password", value: form.password }}
          {...ATTRIBUTES}
          {...described("password", errors, "password-hint")}
          autofocus={focused === "password"}
        />
        <FieldError field="password" errors={errors} />
        <p class="hint" id="password-hint">
          {message(language, "home.password.hint")}
        </p>
      </div>
    </details>
  );
}
