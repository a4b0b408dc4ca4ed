/** @jsxImportSource ../shared/html */
import { type NameOf, TERMS } from "../../links/terms/terms.ts";
import { NEVER_MS, DURATIONS } from "../../links/time.ts";
import { message, type MessageKey } from "../../locales/messages.ts";
import { DateField, FieldError } from "../shared/form-fields.tsx";
import { type FieldProps, localOf } from "./form.ts";

const ENDS: readonly (readonly [string, MessageKey])[] = [
  ...DURATIONS.map((value) => [value, `duration.${value}`] as const),
  ["never", "never"],
  ["date", "duration.date"],
];
const STARTS: typeof ENDS = [
  ["now", "manage.starts.now"],
  ["date", "duration.date"],
];

export function Ends(props: FieldProps) {
  const { endsMs } = props.link;
  return <When {...props} field="expires_at" choices={ENDS} ms={endsMs === NEVER_MS ? undefined : endsMs} />;
}

export function Starts(props: FieldProps) {
  return <When {...props} field="starts_at" choices={STARTS} ms={props.link.terms?.startsMs} />;
}

type WhenProps = FieldProps & {
  readonly field: NameOf<"when">;
  readonly choices: typeof ENDS;
  /** The present value. */
  readonly ms: number | undefined;
};

function When({ language, values, errors, field, choices, ms }: WhenProps) {
  const choice = values?.[field] ?? (ms === undefined ? TERMS[field].none : "date");
  const isDate = choice === "date";
  const date = `${field}_date` as const;
  const now = ms === undefined ? "" : localOf(ms);
  return (
    <fieldset
      class="field ends"
      aria-describedby={field in errors ? `${field}-error ${field}-hint` : `${field}-hint`}
    >
      <legend>{message(language, field === "expires_at" ? "manage.ends" : "scheduled.starts")}</legend>
      <div class="choices">
        {choices.map(([value, label]) => (
          <label>
            <input type="radio" name={field} value={value} checked={value === choice} data-term />
            <span>{message(language, label)}</span>
          </label>
        ))}
      </div>
      <div class="date">
        <DateField
          language={language}
          name={date}
          field={field}
          label="home.expires"
          value={values === undefined ? now : (values[date] ?? "")}
          ms={values === undefined ? ms : undefined}
          zone={values?.zone ?? ""}
          errors={errors}
          isFocused={isDate && field in errors}
        >
          {isDate && <FieldError field={field} errors={errors} />}
        </DateField>
      </div>
      {!isDate && <FieldError field={field} errors={errors} />}
      <p class="hint" id={`${field}-hint`}>
        {message(language, field === "expires_at" ? "manage.ends.hint" : "home.starts.hint")}
      </p>
    </fieldset>
  );
}
