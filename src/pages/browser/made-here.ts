import { DAY_MS } from "../../links/time.ts";
import { ask, type Link } from "./api.ts";
import { offerCopies } from "./copy.ts";
import { read, write } from "./storage.ts";
import { withoutScheme } from "./url.ts";

/** The key of the list in local storage. The list never leaves this browser. */
const LIST = "curt.made-here";
/** The key in session storage that says: this tab has sent the form, so the next preview is of a link made here. */
const SENT = "curt.sent";
const MAX_LINKS = 50;
/** How long to wait for the service's answer about a link. */
const WAIT_MS = 5000;
/** In characters. Longer destinations are cut off. */
const MAX_SHOWN = 60;
/** The date on which links that never end expire in the API. */
const NEVER = "9999-12-31";

interface Made {
  readonly path: string;
  /** To notice if the code now belongs to a newer link. */
  readonly created: string;
  /** The manage key. Links that were made before this was kept have none. */
  readonly key?: string | undefined;
}

/** Adds a link to the list if it was made with the form in this browser. */
export function rememberMade(): void {
  const form = document.querySelector("form[data-make]");
  // The form is shown again, so anything sent before has been refused or is already in the list.
  if (form) write("sessionStorage", SENT, null);
  form?.addEventListener("submit", () => write("sessionStorage", SENT, "1"));
  const { link: path, created } = document.querySelector<HTMLElement>("[data-created]")?.dataset ?? {};
  if (location.hash !== "#made" || path === undefined || created === undefined) return;
  if (read("sessionStorage", SENT) === null) return;
  write("sessionStorage", SENT, null);
  const others = madeHere().filter((made) => made.path !== path);
  const shown = document.querySelector<HTMLElement>("[data-key]");
  keep([{ path, created, key: shown?.dataset["key"] }, ...others].slice(0, MAX_LINKS));
  if (madeHere().some(({ key }) => key !== undefined && key === shown?.dataset["key"]))
    shown?.querySelector("[data-kept]")?.removeAttribute("data-kept");
}

/** Lists the links made in this browser, with their current visits and expiry from the API. */
export function showMadeHere(): void {
  const section = document.querySelector<HTMLElement>(".made-here");
  const list = section?.querySelector("ul");
  const template = section?.querySelector("template");
  if (!section || !list || !template) return;

  function forget(made: Made, item: Element): void {
    const next = item.nextElementSibling ?? item.previousElementSibling;
    if (next === null) return forgetAll();
    keep(madeHere().filter(({ path }) => path !== made.path));
    item.remove();
    // The focused button has been removed.
    next.querySelector<HTMLElement>("[data-forget]")?.focus();
  }

  function forgetAll(): void {
    keep([]);
    list?.replaceChildren();
    if (section) section.hidden = true;
    document.querySelector<HTMLElement>("input")?.focus();
  }

  const told = madeHere().map((made) => {
    const item = template.content.firstElementChild?.cloneNode(true) as HTMLElement;
    const code = codeOf(made) ?? "";
    const address = part(item, "address");
    address.setAttribute("href", `/${encodeURIComponent(code)}+`);
    nameLink(item, `${location.origin}/${code}/`);
    const manage = part(item, "manage");
    if (made.key === undefined) manage.remove();
    else manage.setAttribute("href", `/${encodeURIComponent(code)}+#key=${made.key}`);
    part(item, "forget").addEventListener("click", () => forget(made, item));
    offerCopies(item);
    list.append(item);
    return tell(made, item, section.dataset);
  });
  // Show the list only once every request has finished, so that nothing moves while it is visible.
  void Promise.allSettled(told).then(() => (section.hidden = list.children.length === 0));
  section.querySelector("[data-forget-all]")?.addEventListener("click", () => {
    if (confirm(section.dataset["clear"])) forgetAll();
  });
}

async function tell(made: Made, item: HTMLElement, words: DOMStringMap): Promise<void> {
  const answer = await ask<Link>(made.path, { signal: AbortSignal.timeout(WAIT_MS) }).catch(() => undefined);
  const data = answer?.data;
  if (data?.created !== made.created) {
    const isGone = answer !== undefined && answer.status < 500 && answer.status !== 429;
    part(item, "target").textContent = words[isGone ? "gone" : "unknown"] ?? "";
    part(item, "visits").parentElement?.remove();
    if (isGone) for (const use of item.querySelectorAll("[data-copy], [data-manage]")) use.remove();
    return;
  }
  nameLink(item, data.short_url);
  const target = part(item, "target");
  target.textContent = shortened(withoutScheme(data.original_url));
  target.title = data.original_url;
  part(item, "visits").textContent = new Intl.NumberFormat(document.documentElement.lang).format(data.visits);
  part(item, "left").textContent = timeLeft(data.expiration_date, words);
}

function timeLeft(end: string, words: DOMStringMap): string {
  if (end.startsWith(NEVER)) return words["never"] ?? "";
  const leftMs = Date.parse(end) - Date.now();
  if (leftMs <= 0) return words["ended"] ?? "";
  const format = new Intl.RelativeTimeFormat(document.documentElement.lang);
  const [count, unit] =
    leftMs >= 2 * DAY_MS
      ? ([leftMs / DAY_MS, "day"] as const)
      : leftMs >= DAY_MS / 12
        ? ([(leftMs / DAY_MS) * 24, "hour"] as const)
        : ([(leftMs / DAY_MS) * 1440, "minute"] as const);
  return (words["ends"] ?? "").replace("{left}", format.format(Math.max(1, Math.round(count)), unit));
}

/** Shows the short address. Also adds it to the buttons' labels, so that screen readers can tell them apart. */
function nameLink(item: HTMLElement, shortUrl: string): void {
  const shown = withoutScheme(shortUrl);
  part(item, "address").textContent = shown;
  part(item, "copy").dataset["copy"] = shortUrl;
  for (const control of item.querySelectorAll("button, [data-manage]"))
    control.ariaLabel = `${control.textContent}: ${shown}`;
}

function shortened(text: string): string {
  const characters = Array.from(text);
  return characters.length > MAX_SHOWN ? `${characters.slice(0, MAX_SHOWN - 1).join("")}…` : text;
}

function part(item: HTMLElement, name: string): HTMLElement {
  return item.querySelector(`[data-${name}]`) as HTMLElement;
}

function madeHere(): Made[] {
  try {
    const list: unknown = JSON.parse(read("localStorage", LIST) ?? "[]");
    return Array.isArray(list) ? list.filter(isMade).slice(0, MAX_LINKS) : [];
  } catch {
    return [];
  }
}

function isMade(one: Partial<Made> | null): one is Made {
  return (
    typeof one?.path === "string" &&
    typeof one.created === "string" &&
    (one.key === undefined || typeof one.key === "string") &&
    codeOf(one as Made) !== undefined
  );
}

function codeOf({ path }: Made): string | undefined {
  try {
    const code = decodeURIComponent(path.split("/").at(-1) ?? "");
    return code.isWellFormed() ? code : undefined;
  } catch {
    return undefined;
  }
}

function keep(list: readonly Made[]): void {
  write("localStorage", LIST, list.length === 0 ? null : JSON.stringify(list));
}
