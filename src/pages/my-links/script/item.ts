import { offerCopies, regionalLanguage, withoutScheme } from "../../shared/script.ts";
import { addressOf, codeOf, describeState, type SavedLink } from "./saved-links.ts";

export function createItem(
  template: HTMLTemplateElement,
  saved: SavedLink,
  words: DOMStringMap,
): HTMLElement {
  const item = template.content.firstElementChild?.cloneNode(true) as HTMLElement;
  const path = `/${encodeURIComponent(codeOf(saved))}`;
  const address = addressOf(saved, words["base"] ?? "");
  const text = withoutScheme(address);
  const link = part(item, "address");
  // All addresses start alike.
  link.textContent = `/${codeOf(saved)}`;
  link.title = text;
  link.setAttribute("href", `${path}+`);
  part(item, "copy").dataset["copy"] = address;
  item.querySelector("[data-qr]")?.setAttribute("href", `${path}+qr`);
  if (saved.key === undefined) part(item, "manage").remove();
  else part(item, "manage").setAttribute("href", `${path}+#key=${saved.key}`);
  // Screen readers need to distinguish the controls of different links.
  for (const control of item.querySelectorAll(".actions > *")) {
    if (control.textContent !== "") control.ariaLabel = `${control.textContent}: ${text}`;
  }
  offerCopies(item);
  showStatus(item, saved, words);
  return item;
}

/** Shows the latest status of the link. */
export function showStatus(item: HTMLElement, saved: SavedLink, words: DOMStringMap): void {
  const { status, target } = saved;
  const isGone = status?.state === "gone";
  item.dataset["state"] = status?.state ?? "";
  const destination = part(item, "target");
  destination.textContent = target === undefined ? "" : withoutScheme(target);
  destination.title = target ?? "";
  const state = describeState(saved, words);
  part(item, "left").replaceChildren(status?.ends ? timeOf(status.ends, state) : state);
  const visits = part(item, "visits");
  visits.textContent = status && !isGone ? new Intl.NumberFormat(lang()).format(status.visits) : "";
  if (visits.parentElement) visits.parentElement.hidden = visits.textContent === "";
  for (const use of item.querySelectorAll<HTMLElement>("[data-copy], [data-manage], [data-qr]"))
    use.hidden = isGone;
}

/** A text about a date, whose title has the full time in the reader's time zone. */
function timeOf(date: string, text: string): HTMLTimeElement {
  const time = document.createElement("time");
  const ms = Date.parse(date);
  const words = new Intl.DateTimeFormat(regionalLanguage(), { dateStyle: "long", timeStyle: "short" });
  Object.assign(time, { dateTime: date, title: Number.isNaN(ms) ? "" : words.format(ms), textContent: text });
  return time;
}

export function part(item: HTMLElement, name: string): HTMLElement {
  return item.querySelector(`[data-${name}]`) as HTMLElement;
}

function lang(): string {
  return document.documentElement.lang;
}
