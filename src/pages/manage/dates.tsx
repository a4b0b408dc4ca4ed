/** @jsxImportSource ../shared/html */
import { hasStarted } from "../../links/link.ts";
import { DURATIONS, NEVER_MS } from "../../links/time.ts";
import { message, type MessageKey } from "../../locales/messages.ts";
import { DateField } from "../shared/date-field.tsx";
import { FieldError } from "../shared/field.tsx";
import type { FieldProps } from "./fields.tsx";

const ENDS: readonly (readonly [string, MessageKey])[] = [
  ["", "manage.ends.keep"],
  ...DURATIONS.map((duration) => [duration, `duration.${duration}`] as const),
  ["never", "never"],
  ["date", "duration.date"],
];
const STARTS: typeof ENDS = [
  ["", "manage.ends.keep"],
  ["now", "manage.starts.now"],
  ["date", "duration.date"],
];

export function Ends(props: FieldProps) {
  const { endsMs } = props.link;
  return <When {...props} field="expires" choices={ENDS} ms={endsMs === NEVER_MS ? undefined : endsMs} />;
}

/** When the link begins, as long as that can be changed. */
export function Starts(props: FieldProps) {
  const { link, nowMs } = props;
  if (hasStarted(link, nowMs)) return <></>;
  return <When {...props} field="starts" choices={STARTS} ms={link.terms?.startsMs} />;
}

type WhenProps = FieldProps & {
  readonly field: "expires" | "starts";
  readonly choices: typeof ENDS;
  /** What it is now. */
  readonly ms: number | undefined;
};

function When({ language, sent, errors, field, choices, ms }: WhenProps) {
  const chosen = sent?.[field] ?? "";
  const isDate = chosen === "date";
  const date = `${field}_date` as const;
  const now = ms === undefined ? "" : new Date(ms).toISOString().slice(0, "2026-01-01T00:00".length);
  return (
    <fieldset
      class="field ends"
      aria-describedby={field in errors ? `${field}-error ${field}-hint` : `${field}-hint`}
    >
      <legend>{message(language, field === "expires" ? "manage.ends" : "scheduled.starts")}</legend>
      <div class="choices">
        {choices.map(([value, label]) => (
          <label>
            <input type="radio" name={field} value={value} checked={value === chosen} />
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
          value={sent === undefined ? now : (sent[date] ?? "")}
          ms={sent === undefined ? ms : undefined}
          zone={sent?.zone ?? ""}
          errors={errors}
          isFocused={isDate && field in errors}
        >
          {isDate && <FieldError field={field} errors={errors} />}
        </DateField>
      </div>
      {!isDate && <FieldError field={field} errors={errors} />}
      <p class="hint" id={`${field}-hint`}>
        {message(language, field === "expires" ? "manage.ends.hint" : "home.starts.hint")}
      </p>
    </fieldset>
  );
}
