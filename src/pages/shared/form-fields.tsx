/** @jsxImportSource ./html */
import { isOfKind, type NameOf, type TermName } from "../../links/terms/terms.ts";
import { message, type MessageKey } from "../../locales/messages.ts";
import type { Child } from "./html/jsx-runtime.ts";
import { richMessage } from "./in-words.ts";

/** Error messages by field. */
export type FieldErrors<Field extends string> = Readonly<Partial<Record<Field, string>>>;

/** Links a field to its error message and to the elements in `hints` (ids), for screen readers. */
export function describedBy<Field extends string>(field: Field, errors: FieldErrors<Field>, hints = "") {
  const isRefused = field in errors;
  const ids = [isRefused && `${field}-error`, hints].filter(Boolean).join(" ");
  return { ...(isRefused && { "aria-invalid": "true" }), ...(ids !== "" && { "aria-describedby": ids }) };
}

/** A label, in which only the name is bold. */
export function Label({ name, text }: { name: string; text: string }) {
  const [label, ...rest] = text.split(/(?=[(（])/);
  return (
    <label for={name}>
      {label}
      {rest.length > 0 && <span class="optional">{rest.join("")}</span>}
    </label>
  );
}

interface FieldErrorProps<Field extends string> {
  readonly field: Field;
  readonly errors: FieldErrors<Field>;
  readonly children?: Child;
}

export function FieldError<Field extends string>({ field, errors, children }: FieldErrorProps<Field>) {
  if (!(field in errors)) return <></>;
  return (
    <div class="refusal">
      <p class="error" id={`${field}-error`}>
        {errors[field]}
      </p>
      {children}
    </div>
  );
}

/** A problem that belongs to no field. */
export function Notice({ text }: { text: string | undefined }) {
  if (text === undefined) return <></>;
  return (
    <p class="error" role="alert">
      {text}
    </p>
  );
}

interface DateFieldProps<Field extends string> {
  readonly language: string;
  readonly name: string;
  /** The field of the error message. */
  readonly field: Field;
  readonly label: MessageKey;
  /** Before the time zone. */
  readonly hint?: MessageKey;
  /** As `datetime-local`, in the time zone. */
  readonly value: string;
  /** The instant of the value. The script converts it to the reader's time zone. */
  readonly ms?: number | undefined;
  /** Empty means UTC. */
  readonly zone: string;
  readonly errors: FieldErrors<Field>;
  readonly isFocused: boolean;
  /** The error message. */
  readonly children?: Child;
}

/** A date and time in the reader's zone, or in UTC without scripts. */
export function DateField<Field extends string>(props: DateFieldProps<Field>) {
  const { language, name, field, label, hint, value, ms, zone, errors, isFocused, children } = props;
  const zoneHint = richMessage(language, "home.zone", { zone: <span data-zone>{zone || "UTC"}</span> });
  return (
    <>
      <Label name={name} text={message(language, label)} />
      <input
        {...{ id: name, name, value, type: "datetime-local", max: "9999-12-30T00:00" }}
        {...describedBy(field, errors, `${name}-zone`)}
        {...(ms !== undefined && { "data-instant": new Date(ms).toISOString() })}
        autofocus={isFocused}
      />
      {children}
      <p class="hint" id={`${name}-zone`}>
        {hint !== undefined && `${message(language, hint)} `}
        {zoneHint}
      </p>
    </>
  );
}

/** For fields that hold addresses and codes, not prose: turns off the browser's corrections. */
export const VERBATIM = { autocomplete: "off", autocapitalize: "none", spellcheck: false } as const;

/** The value of a ticked box. */
export const SET = "yes";

interface CheckboxProps<Field extends string> {
  /** Also the prefix of all ids. */
  readonly name: Field;
  readonly label: string;
  readonly hint: string;
  readonly errors: FieldErrors<Field>;
  readonly isSet: boolean;
  readonly isFocused: boolean;
}

/** A flag. Browsers don't send a box that isn't ticked, so a hidden field says that it was there. The last value counts. */
function Checkbox<Field extends string>(props: CheckboxProps<Field>) {
  const { name, label, hint, errors, isSet, isFocused } = props;
  return (
    <div class="field">
      <input type="hidden" name={name} value="" />
      <div class="list">
        <label>
          <input
            {...{ id: name, name, type: "checkbox", value: SET }}
            {...describedBy(name, errors, `${name}-hint`)}
            checked={isSet}
            autofocus={isFocused}
            data-term
          />{" "}
          {label}
        </label>
      </div>
      <FieldError field={name} errors={errors} />
      <p class="hint" id={`${name}-hint`}>
        {hint}
      </p>
    </div>
  );
}

interface TextFieldProps<Field extends string> {
  /** Also the prefix of all ids. */
  readonly name: Field;
  readonly label: string;
  readonly hint?: Child;
  readonly errors: FieldErrors<Field>;
  /** The start of an address, before the input. */
  readonly base?: string;
  /** Attributes of the input. */
  readonly input?: Readonly<Record<string, string | number | boolean>>;
  /** Beside the input. */
  readonly button?: Child;
  readonly children?: Child;
}

/** A labelled line of text with its error message and its hint. */
export function TextField<Field extends string>(props: TextFieldProps<Field>) {
  const { name, label, hint, errors, base, input, button, children } = props;
  const bare = (
    <input
      {...{ id: name, name, type: "text", autocomplete: "off", ...input }}
      {...describedBy(name, errors, hint === undefined ? "" : `${name}-hint`)}
    />
  );
  const line =
    base === undefined ? (
      bare
    ) : (
      <label class="prefixed" for={name}>
        <bdi dir="ltr">{base}</bdi>
        {bare}
      </label>
    );
  return (
    <div class="field">
      <Label name={name} text={label} />
      {button === undefined ? (
        line
      ) : (
        <div class="with-button">
          {line}
          {button}
        </div>
      )}
      <div class="below">
        <FieldError field={name} errors={errors} />
        {hint !== undefined && (
          <p class="hint" id={`${name}-hint`}>
            {hint}
          </p>
        )}
      </div>
      {children}
    </div>
  );
}

interface PlainTermProps {
  readonly language: string;
  readonly name: NameOf<"flag" | "text">;
  readonly label: string;
  /** As the form sends it. */
  readonly value: string;
  readonly errors: FieldErrors<TermName>;
  readonly isFocused: boolean;
}

/** The field of a term whose kind says everything but its words. */
export function PlainTerm({ language, name, label, value, errors, isFocused }: PlainTermProps) {
  const words = { name, label, hint: message(language, `${name}.hint`), errors };
  if (isOfKind(name, "flag")) return <Checkbox {...words} isSet={value === SET} isFocused={isFocused} />;
  return <TextField {...words} input={{ dir: "auto", value, "data-term": true, autofocus: isFocused }} />;
}
