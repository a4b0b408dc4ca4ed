/** @jsxImportSource ./html */
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
