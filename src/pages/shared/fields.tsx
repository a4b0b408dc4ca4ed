/** @jsxImportSource ./html */
import { message, type MessageKey } from "../../locales/messages.ts";
import { richMessage } from "./formats.ts";
import type { Child } from "./html/jsx-runtime.ts";

/** Why the values of a form's fields were refused, by the name of the field. */
export type FieldErrors<Field extends string> = Readonly<Partial<Record<Field, string>>>;

/** Links a field to its error message, if any, and to the elements in `hints` (ids), for screen readers. */
export function described<Field extends string>(field: Field, errors: FieldErrors<Field>, hints = "") {
  const isRefused = field in errors;
  const ids = [isRefused && `${field}-error`, hints].filter(Boolean).join(" ");
  return { ...(isRefused && { "aria-invalid": "true" }), ...(ids !== "" && { "aria-describedby": ids }) };
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

/** What is wrong with a form, if no field is to blame. */
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
  /** What refusals are about. */
  readonly field: Field;
  readonly label: MessageKey;
  /** What is said before the time zone. */
  readonly hint?: MessageKey;
  /** As browsers send it, in the time zone. */
  readonly value: string;
  /** What the value stands for. The script writes it in the reader's own time zone. */
  readonly ms?: number | undefined;
  /** Empty if the browser did not tell it: then it is UTC. */
  readonly zone: string;
  readonly errors: FieldErrors<Field>;
  readonly isFocused: boolean;
  /** Why it was refused. */
  readonly children?: Child;
}

/** A date and time in the zone of the reader, or in UTC without scripts. */
export function DateField<Field extends string>(props: DateFieldProps<Field>) {
  const { language, name, field, label, hint, value, ms, zone, errors, isFocused, children } = props;
  const zoneHint = richMessage(language, "home.zone", { zone: <span data-zone>{zone || "UTC"}</span> });
  return (
    <>
      <label for={name}>{message(language, label)}</label>
      <input
        {...{ id: name, name, value, type: "datetime-local", max: "9999-12-30T00:00" }}
        {...described(field, errors, `${name}-zone`)}
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

interface TextFieldProps<Field extends string> {
  /** The name of the input, and the first part of all ids. */
  readonly name: Field;
  readonly label: string;
  readonly hint?: Child;
  readonly errors: FieldErrors<Field>;
  /** Attributes of the input. */
  readonly input?: Readonly<Record<string, string | boolean>>;
  /** Below the hint. */
  readonly children?: Child;
}

/** A labelled line of text with its error message and its hint. */
export function TextField<Field extends string>(props: TextFieldProps<Field>) {
  const { name, label, hint, errors, input, children } = props;
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <input
        {...{ id: name, name, type: "text", autocomplete: "off", ...input }}
        {...described(name, errors, hint === undefined ? "" : `${name}-hint`)}
      />
      <FieldError field={name} errors={errors} />
      {hint !== undefined && (
        <p class="hint" id={`${name}-hint`}>
          {hint}
        </p>
      )}
      {children}
    </div>
  );
}
