import { offerCopies, regionalLanguage, withoutScheme, writeTime } from "../../shared/script.ts";
import { addressOf, codeOf, describeState, type SavedLink } from "./saved-links.ts";

let menus = 0;

export function createItem(
  template: HTMLTemplateElement,
  saved: SavedLink,
  words: DOMStringMap,
): HTMLElement {
  const item = template.content.firstElementChild?.cloneNode(true) as HTMLElement;
  const path = `/${encodeURIComponent(codeOf(saved))}`;
  const address = addressOf(saved, words["base"] ?? "");
  const text = withoutScheme(address);
  // All addresses start alike.
  part(item, "code").textContent = `/${codeOf(saved)}`;
  part(item, "address").title = text;
  for (const name of ["address", "preview"]) part(item, name).setAttribute("href", `${path}+`);
  part(item, "copy").dataset["copy"] = address;
  part(item, "qr").setAttribute("href", `${path}+qr`);
  const isOwn = saved.key === undefined && saved.isOwn === true;
  part(item, "manage").setAttribute("href", isOwn ? `${path}+manage` : `${path}+#key=${saved.key}`);
  // The service would list it again.
  if (isOwn) item.querySelector("[data-forget]")?.remove();
  const menu = item.querySelector<HTMLElement>(".menu");
  const opener = item.querySelector<HTMLElement>("[popovertarget]");
  if (menu && opener) {
    menu.id = `link-menu-${++menus}`;
    opener.setAttribute("popovertarget", menu.id);
    menu.addEventListener("click", () => menu.hidePopover());
    // Screen readers need to distinguish the controls of different links.
    opener.ariaLabel = `${menu.ariaLabel}: ${text}`;
    menu.ariaLabel = text;
  }
  const copy = part(item, "copy");
  copy.ariaLabel = `${copy.textContent}: ${text}`;
  const created = new Date(saved.created);
  const isToday = created.toDateString() === new Date().toDateString();
  const made = part(item, "made") as HTMLTimeElement;
  made.dateTime = saved.created;
  made.title = writeTime(created.getTime() || 0);
  if (!Number.isNaN(created.getTime()))
    made.textContent = new Intl.DateTimeFormat(
      regionalLanguage(),
      isToday ? { timeStyle: "short" } : { day: "numeric", month: "short" },
    ).format(created);
  offerCopies(item);
  showStatus(item, saved, words);
  return item;
}

/** The shapes of states; others are only facts. */
const SHAPES: Readonly<Record<string, string>> = {
  active: "deadline",
  expired: "ended",
  used_up: "ended",
  withdrawn: "ended",
  gone: "ended",
  disabled: "refused",
};

/** Shows the latest status of the link. */
export function showStatus(item: HTMLElement, saved: SavedLink, words: DOMStringMap): void {
  const { status, target, title = "" } = saved;
  const isGone = status?.state === "gone";
  item.dataset["state"] = status?.state ?? "";
  if (saved.key === undefined && saved.isOwn !== true) item.querySelector("[data-manage]")?.remove();
  const destination = part(item, "target");
  destination.textContent = target === undefined ? "" : withoutScheme(target);
  destination.title = target ?? "";
  Object.assign(part(item, "title"), { textContent: title, title });
  const state = describeState(saved, words);
  const chip = part(item, "left");
  chip.className = `chip ${SHAPES[status?.state ?? ""] ?? ""}`;
  // A link that works without an end has nothing to say.
  chip.hidden = status?.state === "active" && status.ends === null;
  chip.replaceChildren(status?.ends ? timeOf(status.ends, state) : state);
  const visits = part(item, "visits");
  visits.textContent = status && !isGone ? new Intl.NumberFormat(lang()).format(status.visits) : "";
  if (visits.parentElement) visits.parentElement.hidden = visits.textContent === "";
  for (const use of item.querySelectorAll<HTMLElement>(
    "[data-copy], [data-manage], [data-qr], [data-rename]",
  ))
    use.hidden = isGone || saved.removed === true;
  for (const name of ["forget", "restore", "delete"])
    item
      .querySelector(`[data-${name}]`)
      ?.toggleAttribute("hidden", (name === "forget") === (saved.removed === true));
}

/** A text about a date, whose title has the full time in the reader's time zone. */
function timeOf(date: string, text: string): HTMLTimeElement {
  const time = document.createElement("time");
  const ms = Date.parse(date);
  const words = new Intl.DateTimeFormat(regionalLanguage(), { dateStyle: "long", timeStyle: "short" });
  Object.assign(time, { dateTime: date, title: Number.isNaN(ms) ? "" : words.format(ms), textContent: text });
  return time;
}

/** Today, or the month. */
export function groupOf(created: string): string {
  const date = new Date(created);
  if (Number.isNaN(date.getTime())) return "";
  const now = new Date();
  if (date.toDateString() === now.toDateString())
    return new Intl.RelativeTimeFormat(lang(), { numeric: "auto" }).format(0, "day");
  const year = date.getFullYear() === now.getFullYear() ? {} : ({ year: "numeric" } as const);
  return new Intl.DateTimeFormat(lang(), { month: "long", ...year }).format(date);
}

export function part(item: HTMLElement, name: string): HTMLElement {
  return item.querySelector(`[data-${name}]`) as HTMLElement;
}

function lang(): string {
  return document.documentElement.lang;
}
