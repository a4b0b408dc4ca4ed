/** @jsxImportSource ../shared/html */
import { TERM_NAMES, type TermName } from "../../links/terms.ts";
import { DURATIONS, type Expiry } from "../../links/time.ts";
import { message } from "../../locales/messages.ts";
import {
  Checkbox,
  DateField,
  FieldError,
  type FieldErrors,
  SET,
  TextField,
  VERBATIM,
} from "../shared/fields.tsx";

interface FieldsProps extends Pick<Home, "form" | "errors"> {
  readonly language: string;
  readonly focused: string;
}

type EndsProps = FieldsProps & Pick<Home, "defaultExpiry">;

/** When the link ends. Browsers without `:has` always show the date. */
function Ends({ language, defaultExpiry, form, errors, focused }: EndsProps) {
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
          name="expires_at"
          field="expires_at"
          label="home.expires"
          value={form.expires_at}
          zone={form.zone}
          errors={errors}
          isFocused={focused === "expires_at"}
        >
          {isDate && <FieldError field="expires_at" errors={errors} />}
        </DateField>
      </div>
      {!isDate && <FieldError field="expires_at" errors={errors} />}
      <FieldError field="expire_duration" errors={errors} />
    </fieldset>
  );
}

/** The operator's default applies if nothing is selected, so "never" is offered only where it is the default. */
function choices(defaultExpiry: Expiry): (Expiry | "date")[] {
  return [...(defaultExpiry === "never" ? (["never"] as const) : []), ...DURATIONS, "date"];
}

function Starts({ language, form, errors, focused }: EndsProps) {
  return (
    <div class="field">
      <DateField
        language={language}
        name="starts_at"
        field="starts_at"
        label="home.starts"
        hint="home.starts.hint"
        value={form.starts_at}
        zone={form.zone}
        errors={errors}
        isFocused={focused === "starts_at"}
      >
        <FieldError field="starts_at" errors={errors} />
      </DateField>
    </div>
  );
}

function Visits({ language, form, errors, focused }: EndsProps) {
  return (
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
  );
}

/** The password is visible, because its maker passes it on. */
function Password({ language, form, errors, focused }: EndsProps) {
  return (
    <TextField
      name="password"
      label={message(language, "home.password")}
      hint={message(language, "home.password.hint")}
      errors={errors}
      input={{
        ...VERBATIM,
        value: form.password,
        autofocus: focused === "password",
        "data-secret": true,
      }}
    />
  );
}

function ForwardQuery({ language, form, errors, focused }: EndsProps) {
  return (
    <Checkbox
      name="forward_query"
      label={message(language, "forward-query.label")}
      hint={message(language, "forward-query.hint")}
      errors={errors}
      isSet={form.forward_query === SET}
      isFocused={focused === "forward_query"}
    />
  );
}

const FIELDS_OF_TERMS = {
  expires_at: Ends,
  starts_at: Starts,
  max_visits: Visits,
  password: Password,
  forward_query: ForwardQuery,
} as const satisfies Readonly<Record<TermName, unknown>>;

/** Folds the options that few makers change, and summarizes them. */
export function Options(props: EndsProps) {
  const { language, form, errors, defaultExpiry } = props;
  const isUsed = (["expire_duration", ...TERM_NAMES] as const).some((field) => form[field] || errors[field]);
  const ends = message(language, defaultExpiry === "never" ? "home.endless" : `duration.${defaultExpiry}`);
  return (
    <details class="field more" open={isUsed}>
      <summary>
        {message(language, "home.more")}
        <span class="soft">
          {ends}
          {message(language, "home.unlocked")}
        </span>
      </summary>
      {TERM_NAMES.map((name) => {
        const TermField = FIELDS_OF_TERMS[name];
        return <TermField {...props} />;
      })}
    </details>
  );
}

export const FIELDS = ["original_url", "custom_code", "expire_duration", ...TERM_NAMES, "zone"] as const;

export type Field = (typeof FIELDS)[number];

export interface Home {
  readonly baseUrl: string;
  readonly defaultExpiry: Expiry;
  readonly needsToken: boolean;
  readonly createUserHeader: string | null;
  readonly form: Readonly<Record<Field, string>>;
  readonly errors: FieldErrors<Field | "token">;
  /** The problem, if it belongs to no field. */
  readonly notice?: string | undefined;
  /** Addresses that the maker may have meant. */
  readonly offers?: readonly string[];
  /** Whether the address was found in a text. */
  readonly isUnderstood?: boolean | undefined;
  readonly taken?: TakenCode | undefined;
}

/** A taken code, and free ones like it. */
export interface TakenCode {
  readonly code: string;
  readonly free: readonly string[];
}
