// How a person enters terms into a form, by their kind.
import { type Kind, type TermName, TERMS } from "../../src/links/terms/terms.ts";
import { choose, type Control, type ServedForm } from "../http/served-form.ts";
import type { Value } from "./term-samples.ts";

/** Enters a value, or removes the term with null. */
export function enter(form: ServedForm, name: TermName, value: Value | null): void {
  ENTER[TERMS[name].kind](form, name, value);
}

const ENTER: { readonly [K in Kind]: (form: ServedForm, name: TermName, value: Value | null) => void } = {
  when(form, name, value) {
    const term = TERMS[name];
    const date = form.find((control) => isFor(control, name) && control.type === "datetime-local");
    const choice = value === null && "none" in term ? term.none : "date";
    // A date alone has no choice beside it.
    if (date.group !== undefined)
      choose(form, ({ group, value: one }) => group === date.group && one === choice);
    if (value !== null) date.value = localTime(value);
  },
  count(form, name, value) {
    form.find((control) => control.name === name).value = value === null ? "" : String(value);
  },
  secret(form, name, value) {
    if (value === null) form.find((control) => control.name === "remove").isChecked = true;
    else form.find((control) => control.name === name).value = String(value);
  },
  flag(form, name, value) {
    form.find((control) => control.name === name && control.type === "checkbox").isChecked = value === true;
  },
  text(form, name, value) {
    form.find((control) => control.name === name).value = value === null ? "" : String(value);
  },
};

/** Whether an input is for a term: the date beside choices has another name. */
function isFor({ name: sent }: Pick<Control, "name">, name: TermName): boolean {
  return sent === name || sent === `${name}_date`;
}

/** The value of `datetime-local` in UTC; texts other than instants stay unchanged. */
function localTime(value: Value): string {
  return String(value).replace(/^(\d{4}-\d\d-\d\dT\d\d:\d\d):00.000Z$/, "$1");
}

/** Whether the form shows a mistake beside the input of a term. */
export function isRefusedBeside({ controls, ids }: ServedForm, name: TermName): boolean {
  const error = `${name}-error`;
  return (
    ids.includes(error) &&
    controls.some(
      (control) =>
        isFor(control, name) &&
        control.attributes["aria-invalid"] === "true" &&
        control.attributes["aria-describedby"]?.split(" ").includes(error) === true,
    )
  );
}
