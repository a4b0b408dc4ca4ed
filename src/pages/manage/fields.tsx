/** @jsxImportSource ../shared/html */
import { FORMER_HOST_MS, formerOf } from "../../links/change.ts";
import { editableUntilMs, type Edits } from "../../links/edit.ts";
import { hasStarted, hasPassword, type FoundLink } from "../../links/link.ts";
import { targetHost } from "../../links/target.ts";
import { type NameOf, TERM_NAMES, type TermName, TERMS } from "../../links/terms.ts";
import { NEVER_MS, DURATIONS } from "../../links/time.ts";
import { message, type MessageKey } from "../../locales/messages.ts";
import type { Statistics } from "../../visits/statistics/statistics.ts";
import { describeDestination } from "../shared/destination-parts.ts";
import {
  Checkbox,
  DateField,
  describedBy,
  FieldError,
  type FieldErrors,
  SET,
  TextField,
  VERBATIM,
} from "../shared/fields.tsx";
import { duration, richMessage, sentences } from "../shared/formats.ts";
import { Instant } from "../shared/instant.tsx";
import type { Changed } from "../shared/link-facts.tsx";

export const MANAGE_FIELDS = ["target", ...TERM_NAMES, "sure"] as const;
type ManageField = (typeof MANAGE_FIELDS)[number];
type SentField = ManageField | `${NameOf<"when">}_date` | "zone" | "seen";

export interface ManageForm {
  readonly link: FoundLink;
  readonly key: string;
  readonly shortUrl: string;
  readonly nowMs: number;
  readonly changed: Changed | undefined;
  /** The maker's view of the last days. Undefined while the store is unavailable. */
  readonly statistics: Statistics | undefined;
  readonly edits: Edits;
  readonly codeHoldMs: number;
  /** The submitted values of a refused form. */
  readonly values?: Readonly<Partial<Record<SentField, string>>> | undefined;
  readonly errors: FieldErrors<ManageField>;
  /** The problem, if it belongs to no field. */
  readonly notice?: string | undefined;
  /** The confirmation of the last change. */
  readonly done?: string | undefined;
}

/** As `datetime-local`. */
export function localOf(ms: number, zone = "UTC"): string {
  const local = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone).toPlainDateTime();
  return local.toString({ smallestUnit: "minute" });
}

// Each field explains the effect of a change in advance.

export type FieldProps = ManageForm & { readonly language: string };

export function Target({ language, link, nowMs, edits, values, errors }: FieldProps) {
  const untilMs = editableUntilMs(link, edits);
  if (nowMs >= untilMs)
    return (
      <div class="field">
        <p class="label">{message(language, "manage.target")}</p>
        <p class="whole">
          <bdi dir="ltr">{link.originalUrl}</bdi>
        </p>
        <p class="hint">{message(language, edits === "off" ? "manage.target.off" : "manage.target.over")}</p>
      </div>
    );
  const { formerHost: host } = formerOf(link, nowMs);
  const { host: hostName } = host === targetHost(link.target) ? describeDestination(link.target) : { host };
  const rule =
    hasPassword(link) || !hasStarted(link, nowMs)
      ? message(language, "manage.target.secret")
      : message(language, "manage.target.hint", { host: hostName, days: duration(language, FORMER_HOST_MS) });
  const until = Number.isFinite(untilMs) && <Instant language={language} ms={untilMs} />;
  return (
    <TextField
      name="target"
      label={message(language, "manage.target")}
      hint={sentences(language, rule, until && richMessage(language, "manage.target.until", { until }))}
      errors={errors}
      input={{
        ...VERBATIM,
        value: values?.target ?? link.originalUrl,
        inputmode: "url",
        "data-term": true,
        autofocus: "target" in errors,
        required: true,
      }}
    />
  );
}

function Visits({ language, link, values, errors }: FieldProps) {
  const { maxVisits, visits = 0 } = link.terms ?? {};
  const used = maxVisits !== undefined && ` ${message(language, "manage.visits.used", { used: visits })}`;
  return (
    <TextField
      name="max_visits"
      label={message(language, "manage.visits")}
      hint={[message(language, "manage.visits.hint"), used]}
      errors={errors}
      input={{
        value: values?.max_visits ?? String(maxVisits ?? ""),
        inputmode: "numeric",
        "data-term": true,
        autofocus: "max_visits" in errors,
      }}
    />
  );
}

function Password({ language, link, errors }: FieldProps) {
  const has = hasPassword(link);
  // Browsers that saved the password would offer it for every other link.
  return (
    <TextField
      name="password"
      label={message(language, "manage.password")}
      hint={message(language, has ? "manage.password.keep" : "manage.password.none")}
      errors={errors}
      input={{ type: "password", autofocus: "password" in errors, "data-term": true }}
    >
      {has && (
        <div class="list">
          <label>
            <input type="checkbox" name="remove" value="yes" /> {message(language, "manage.password.remove")}
          </label>
        </div>
      )}
    </TextField>
  );
}

export function Withdrawal({ language, codeHoldMs, errors }: FieldProps) {
  return (
    <div class="field">
      <p id="withdraw-hint">
        {codeHoldMs === 0
          ? message(language, "manage.withdraw.free")
          : message(language, "manage.withdraw.hint", { held: duration(language, codeHoldMs) })}
      </p>
      <div class="list">
        <label>
          <input
            {...{ type: "checkbox", name: "sure", value: "yes", required: true }}
            {...describedBy("sure", errors, "withdraw-hint")}
            autofocus={"sure" in errors}
          />{" "}
          {message(language, "manage.sure")}
        </label>
      </div>
      <FieldError field="sure" errors={errors} />
    </div>
  );
}

const ENDS: readonly (readonly [string, MessageKey])[] = [
  ...DURATIONS.map((value) => [value, `duration.${value}`] as const),
  ["never", "never"],
  ["date", "duration.date"],
];
const STARTS: typeof ENDS = [
  ["now", "manage.starts.now"],
  ["date", "duration.date"],
];

function Ends(props: FieldProps) {
  const { endsMs } = props.link;
  return <When {...props} field="expires_at" choices={ENDS} ms={endsMs === NEVER_MS ? undefined : endsMs} />;
}

/** When the link starts, while that can still be changed. */
function Starts(props: FieldProps) {
  const { link, nowMs } = props;
  if (hasStarted(link, nowMs)) return <></>;
  return <When {...props} field="starts_at" choices={STARTS} ms={link.terms?.startsMs} />;
}

function ForwardQuery({ language, link, values, errors }: FieldProps) {
  const isSet = link.terms?.forwardQuery === true;
  return (
    <Checkbox
      name="forward_query"
      label={message(language, "forward-query.label")}
      hint={message(language, "forward-query.hint")}
      errors={errors}
      isSet={values === undefined ? isSet : values.forward_query === SET}
      isFocused={"forward_query" in errors}
    />
  );
}

/** The field of each term. */
const FIELDS_OF_TERMS = {
  expires_at: Ends,
  starts_at: Starts,
  max_visits: Visits,
  password: Password,
  forward_query: ForwardQuery,
} as const satisfies Readonly<Record<TermName, unknown>>;

export function TermFields(props: FieldProps) {
  return (
    <>
      {TERM_NAMES.map((name) => {
        const TermField = FIELDS_OF_TERMS[name];
        return <TermField {...props} />;
      })}
    </>
  );
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
