/** @jsxImportSource ../shared/html */
import { FORMER_HOST_MS, formerOf } from "../../links/change.ts";
import { editableUntilMs } from "../../links/edit.ts";
import { hasStarted, hasPassword } from "../../links/link.ts";
import { targetHost } from "../../links/target.ts";
import { isOfKind, type NameOf, TERM_NAMES, type TermName, TERMS } from "../../links/terms/terms.ts";
import { message, type MessageKey } from "../../locales/messages.ts";
import { Chip } from "../shared/chip.tsx";
import { describeDestination } from "../shared/destination-parts.ts";
import { describedBy, FieldError, PlainTerm, SET, TextField, VERBATIM } from "../shared/form-fields.tsx";
import { duration, richMessage } from "../shared/in-words.ts";
import { Instant } from "../shared/instant.tsx";
import type { FieldProps } from "./form.ts";
import { presentOf, Setting } from "./setting.tsx";
import { Ends, Starts } from "./time-fields.tsx";

// Each field explains the effect of a change in advance.

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
      hint={[
        until && [
          <Chip kind="deadline">{richMessage(language, "manage.target.until", { until })}</Chip>,
          " ",
        ],
        rule,
      ]}
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
      <p class="hint" id="withdraw-hint">
        {codeHoldMs === 0
          ? message(language, "manage.withdraw.free")
          : message(language, "manage.withdraw.hint", { held: duration(language, codeHoldMs) })}
      </p>
      <div class="list">
        <label>
          <input
            {...{ type: "checkbox", name: "sure", value: "yes" }}
            data-missing={message(language, "manage.sure.missing")}
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

export function NewOwner({ language, values, errors }: FieldProps) {
  return (
    <TextField
      name="owner"
      label={message(language, "manage.owner")}
      hint={message(language, "manage.owner.hint")}
      errors={errors}
      input={{
        ...VERBATIM,
        value: values?.owner ?? "",
        autofocus: "owner" in errors,
      }}
    />
  );
}

/** The fields of the other terms are alike in all forms. */
const FIELDS_OF_TERMS = {
  expires_at: Ends,
  starts_at: Starts,
  max_visits: Visits,
  password: Password,
} as const satisfies Readonly<Record<Exclude<TermName, NameOf<"flag" | "text">>, unknown>>;

/** The names of the rows. */
export const NAMES: Readonly<Record<TermName, MessageKey>> = {
  expires_at: "manage.ends",
  starts_at: "scheduled.starts",
  max_visits: "manage.visits",
  password: "password.label",
  forward_query: "forward_query",
  forward_path: "forward_path",
  title: "title",
};

/** A row for each term that the reader may change. */
export function TermFields(props: FieldProps) {
  const { language, link, nowMs, right, pathsNeedName, errors } = props;
  const { forwardPath, createdBy } = link.terms ?? {};
  const mayForwardPath = !pathsNeedName || createdBy !== undefined || forwardPath !== undefined;
  const isShown: Readonly<Partial<Record<TermName, boolean>>> = {
    forward_path: mayForwardPath,
    starts_at: !hasStarted(link, nowMs),
    // Only its maker chooses who gets to the destination.
    password: right === "maker",
  };
  const save = message(language, "manage.save.row");
  return (
    <>
      {TERM_NAMES.filter((name) => isShown[name] !== false).map((name) => {
        const title = message(language, NAMES[name]);
        return (
          <Setting
            {...{ language, name: title, present: presentOf(language, link, name), isOpen: name in errors }}
          >
            <TermField {...props} name={name} />
            <button aria-label={`${save}: ${title}`}>{save}</button>
          </Setting>
        );
      })}
    </>
  );
}

function TermField({ name, ...props }: FieldProps & { readonly name: TermName }) {
  const { language, link, values, errors } = props;
  if (!isOfKind(name, "flag", "text")) {
    const Field = FIELDS_OF_TERMS[name];
    return <Field {...props} />;
  }
  const stored = link.terms?.[TERMS[name].stored];
  return (
    <PlainTerm
      {...{ language, name, errors }}
      label={message(language, isOfKind(name, "flag") ? `${name}.label` : name)}
      value={(values === undefined ? (stored === true ? SET : stored) : values[name]) ?? ""}
      isFocused={name in errors}
    />
  );
}
