/** @jsxImportSource ../shared/html */
import type { Edits } from "../../links/edit.ts";
import { isOfKind, type NameOf, TERM_NAMES, type TermName } from "../../links/terms/terms.ts";
import { DURATIONS, type Expiry } from "../../links/time.ts";
import { message } from "../../locales/messages.ts";
import {
  DateField,
  FieldError,
  type FieldErrors,
  PlainTerm,
  SET,
  TextField,
  VERBATIM,
} from "../shared/form-fields.tsx";

interface FieldsProps extends Pick<Home, "form" | "errors"> {
  readonly language: string;
  readonly focused: string;
}

type EndsProps = FieldsProps & Pick<Home, "defaultExpiry" | "pathsNeedName">;

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
  return [...DURATIONS, ...(defaultExpiry === "never" ? (["never"] as const) : []), "date"];
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

/** The password is visible until its maker hides it, because the maker passes it on. */
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
      button={
        <button type="button" class="quiet" data-show={message(language, "home.password.show")} hidden>
          {message(language, "home.password.hide")}
        </button>
      }
    />
  );
}

/** The fields of the other terms are alike in all forms. */
const FIELDS_OF_TERMS = {
  starts_at: Starts,
  max_visits: Visits,
  password: Password,
} as const satisfies Readonly<Record<Exclude<TermName, NameOf<"flag" | "text"> | "expires_at">, unknown>>;

/** Folds the options that few makers change, and summarizes them. */
export function Options(props: EndsProps) {
  const { language, form, errors, focused, pathsNeedName } = props;
  const names = TERM_NAMES.filter((name) => name !== "expires_at");
  return (
    <details class="field fold" open={names.some((field) => form[field] || errors[field])}>
      <summary>
        {message(language, "home.more")} <span class="soft">{message(language, "home.unlocked")}</span>
      </summary>
      <div class="options">
        {names.map((name) => {
          // Where only few may set it, they use the API.
          if (name === "forward_path" && pathsNeedName && form[name] !== SET) return null;
          if (isOfKind(name, "flag", "text"))
            return (
              <PlainTerm
                {...{ language, name, errors }}
                label={message(language, `${name}.label`)}
                value={form[name]}
                isFocused={focused === name}
              />
            );
          const TermField = FIELDS_OF_TERMS[name];
          return <TermField {...props} />;
        })}
      </div>
    </details>
  );
}

export const FIELDS = [
  "original_url",
  "custom_code",
  "expire_duration",
  ...TERM_NAMES,
  "zone",
  "form",
] as const;

export type Field = (typeof FIELDS)[number];

export interface Home {
  readonly baseUrl: string;
  /** The language in the address. */
  readonly chosen: string | undefined;
  readonly defaultExpiry: Expiry;
  readonly edits: Edits;
  readonly codeHoldMs: number;
  readonly pathsNeedName: boolean;
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
