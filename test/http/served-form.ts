import type { RunningService } from "../support/service.ts";
import { HTML, sendForm } from "./markup.ts";

/** An input that the page has. Tests type into `value`, and tick `isChecked`. */
export interface Control {
  readonly name: string;
  readonly type: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** The number of its fieldset. Undefined without one. */
  readonly group: number | undefined;
  value: string;
  isChecked: boolean;
}

export interface ServedForm {
  readonly status: number;
  readonly controls: readonly Control[];
  /** Of all elements in the form. */
  readonly ids: readonly string[];
  find(is: (control: Control) => boolean): Control;
  /** Sends what a browser would. */
  send(): Promise<Response>;
}

/** Reads a form out of a page: the first that the selector matches. */
export async function readServedForm(
  service: Pick<RunningService, "fetch">,
  page: Response,
  selector: string,
): Promise<ServedForm> {
  const controls: Control[] = [];
  const ids: string[] = [];
  let action: string | undefined;
  let method: string | undefined;
  let groups = 0;
  let group: number | undefined;
  await new HTMLRewriter()
    .on(selector, {
      element(form) {
        action ??= form.getAttribute("action") ?? "";
        method ??= form.getAttribute("method") ?? "get";
      },
    })
    .on(`${selector} [id]`, { element: (element) => void ids.push(element.getAttribute("id") ?? "") })
    .on(`${selector} fieldset`, {
      element(fieldset) {
        group = groups++;
        fieldset.onEndTag(() => void (group = undefined));
      },
    })
    .on(`${selector} input`, {
      element(input) {
        const attributes = Object.fromEntries(input.attributes);
        const { name = "", type = "text", value = "", checked } = attributes;
        controls.push({ name, type, attributes, group, value, isChecked: checked !== undefined });
      },
    })
    .transform(page)
    .text();
  const path = action;
  if (path === undefined) throw new Error(`${page.url} has no form ${selector}`);
  return {
    status: page.status,
    controls,
    ids,
    find(is) {
      const control = controls.find(is);
      if (control === undefined) throw new Error(`${page.url} has no such input: ${is.toString()}`);
      return control;
    },
    send() {
      const entries = new URLSearchParams(controls.flatMap(entryOf)).toString();
      if (method === "get") return service.fetch(`${path}?${entries}`, { headers: HTML });
      return sendForm(service, path, entries);
    },
  };
}

/** Browsers send only the boxes and choices that are ticked. */
function entryOf({ name, type, value, isChecked }: Control): [string, string][] {
  const isSent = isChecked || (type !== "checkbox" && type !== "radio");
  return isSent ? [[name, value]] : [];
}

/** Ticks one choice of its group. */
export function choose(
  { controls, find }: Pick<ServedForm, "controls" | "find">,
  is: (control: Control) => boolean,
): void {
  const chosen = find((control) => control.type === "radio" && is(control));
  for (const control of controls)
    if (control.type === "radio" && control.name === chosen.name) control.isChecked = control === chosen;
}
