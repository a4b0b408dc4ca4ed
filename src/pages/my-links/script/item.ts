import { offerCopies } from "../../shared/script/copy.ts";
import { withoutScheme } from "../../shared/script/short-url.ts";
import { describeState } from "./link-status.ts";
import { addressOf, codeOf, type Made } from "./saved-links.ts";

/** In characters. Longer destinations are cut off. */
const MAX_SHOWN = 60;

/** A copy of the page's template that shows this link. */
export function makeItem(template: HTMLTemplateElement, made: Made, words: DOMStringMap): HTMLElement {
  const item = template.content.firstElementChild?.cloneNode(true) as HTMLElement;
  const code = codeOf(made);
  const path = `/${encodeURIComponent(code)}`;
  const address = addressOf(code, words["base"] ?? "");
  const shown = withoutScheme(address);
  const link = part(item, "address");
  const host = document.createElement("span");
  host.textContent = withoutScheme(`${words["base"]}/`);
  // Where there is no room, the code begins a line.
  link.append(host, document.createElement("wbr"), shown.slice(host.textContent.length));
  link.setAttribute("href", `${path}+`);
  part(item, "copy").dataset["copy"] = address;
  item.querySelector("[data-qr]")?.setAttribute("href", `${path}+qr`);
  if (made.key === undefined) part(item, "manage").remove();
  else part(item, "manage").setAttribute("href", `${path}+#key=${made.key}`);
  // So that screen readers can tell the controls of one link from those of another.
  for (const control of item.querySelectorAll(".actions > *")) {
    if (control.textContent !== "") control.ariaLabel = `${control.textContent}: ${shown}`;
  }
  offerCopies(item);
  tell(item, made, words);
  return item;
}

/** Shows what is known of the link now. */
export function tell(item: HTMLElement, made: Made, words: DOMStringMap): void {
  const { told, target } = made;
  const isGone = told?.state === "gone";
  item.dataset["state"] = told?.state ?? "";
  const leads = part(item, "target");
  leads.textContent = target === undefined ? "" : shortened(withoutScheme(target));
  leads.title = target ?? "";
  const state = describeState(made, words);
  part(item, "left").replaceChildren(told?.ends ? timeOf(told.ends, state) : state);
  const visits = part(item, "visits");
  visits.textContent = told && !isGone ? new Intl.NumberFormat(lang()).format(told.visits) : "";
  if (visits.parentElement) visits.parentElement.hidden = visits.textContent === "";
  for (const use of item.querySelectorAll<HTMLElement>("[data-copy], [data-manage], [data-qr]"))
    use.hidden = isGone;
}

/** Text for an instant, which is told in full on request. */
export function timeOf(date: string, text?: string): HTMLTimeElement {
  const time = document.createElement("time");
  time.dateTime = date;
  time.title = instant(date, { dateStyle: "long", timeStyle: "short" });
  time.textContent = text ?? instant(date, { dateStyle: "medium" });
  return time;
}

/** A date for people, in their own time zone; "" if there is none. */
function instant(date: string, style: Intl.DateTimeFormatOptions): string {
  const ms = Date.parse(date);
  return Number.isNaN(ms) ? "" : new Intl.DateTimeFormat(lang(), style).format(ms);
}

export function part(item: HTMLElement, name: string): HTMLElement {
  return item.querySelector(`[data-${name}]`) as HTMLElement;
}

function lang(): string {
  return document.documentElement.lang;
}

function shortened(text: string): string {
  const characters = Array.from(text);
  return characters.length > MAX_SHOWN ? `${characters.slice(0, MAX_SHOWN - 1).join("")}…` : text;
}
