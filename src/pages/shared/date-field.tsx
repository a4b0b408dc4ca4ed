/** @jsxImportSource ./html */
import { message, type MessageKey } from "../../locales/messages.ts";
import { described, type FieldErrors } from "./field.tsx";
import type { Child } from "./html/jsx-runtime.ts";

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
  const [before, after] = message(language, "home.zone").split("{zone}");
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
        {before}
        <span data-zone>{zone || "UTC"}</span>
        {after}
      </p>
    </>
  );
}
