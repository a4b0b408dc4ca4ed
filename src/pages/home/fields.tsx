/** @jsxImportSource ../shared/html */
import { DURATIONS, type Expiry } from "../../links/time.ts";
import { message } from "../../locales/messages.ts";
import { DateField, FieldError, TextField, VERBATIM } from "../shared/fields.tsx";
import type { Home } from "./page.tsx";

interface FieldsProps extends Pick<Home, "form" | "errors"> {
  readonly language: string;
  readonly focused: string;
}

type EndsProps = FieldsProps & Pick<Home, "defaultExpiry">;

/** When the link ends. Browsers without `:has` always show the date. */
export function Ends({ language, defaultExpiry, form, errors, focused }: EndsProps) {
  const selected = form.expire_duration || defaultExpiry;
  const isDate = selected === "date";
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
              checked={choice === selected}
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

/** The operator's default applies if nothing is selected, so "never" is offered only where it is the default. */
function choices(defaultExpiry: Expiry): (Expiry | "date")[] {
  return [...(defaultExpiry === "never" ? (["never"] as const) : []), ...DURATIONS, "date"];
}

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
      <TextField
        name="max_visits"
        label={message(language, "home.max-visits")}
        hint={message(language, "home.max-visits.hint")}
        errors={errors}
        input={{
          ...VERBATIM,
          value: form.max_visits,
          inputmode: "numeric",
          autofocus: focused === "max_visits",
        }}
      />
      {/* The password is visible, because its maker passes it on. */}
      <TextField
        name="password"
        label={message(language, "home.password")}
        hint={message(language, "home.password.hint")}
        errors={errors}
        input={{ ...VERBATIM, value: form.password, autofocus: focused === "password" }}
      />
    </details>
  );
}
