import { DAY_MS } from "../../links/time.ts";
import { ask, type Link } from "./api.ts";
import { offerCopies } from "./copy.ts";
import { withoutScheme } from "./url.ts";

/** In this browser's local storage; nobody else reads it. */
const LIST = "curt.made-here";
/** In the tab's storage: a form was sent, so the preview that comes next is of a link made here. */
const SENT = "curt.sent";
const MAX_LINKS = 50;
/** For what the service tells of a link. */
const WAIT_MS = 5000;
/** Of a long address: enough to tell it from another. */
const MAX_SHOWN = 60;
/** The last day of RFC 3339: what a link without an end says. */
const NEVER = "9999-12-31";

interface Made {
  readonly path: string;
  /** Tells the link from a later one of the same code. */
  readonly created: string;
}

/** Notes a link that was made with the form of this browser. */
export function rememberMade(): void {
  const form = document.querySelector("form[data-make]");
  // What was sent before was refused, or is made.
  if (form) write("sessionStorage", SENT, null);
  form?.addEventListener("submit", () => write("sessionStorage", SENT, "1"));
  const { link: path, created } = document.querySelector<HTMLElement>("#visits")?.dataset ?? {};
  if (location.hash !== "#made" || path === undefined || created === undefined) return;
  if (read("sessionStorage", SENT) === null) return;
  write("sessionStorage", SENT, null);
  const others = madeHere().filter((made) => made.path !== path);
  keep([{ path, created }, ...others].slice(0, MAX_LINKS));
}

/** Lists the links made in this browser, with what the service tells of them now. */
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
    // Where the focus was is gone.
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
    part(item, "forget").addEventListener("click", () => forget(made, item));
    offerCopies(item);
    list.append(item);
    return tell(made, item, section.dataset);
  });
  // Once all is known, or will not be: nothing that is seen moves.
  void Promise.allSettled(told).then(() => (section.hidden = list.children.length === 0));
  section.querySelector("[data-forget-all]")?.addEventListener("click", () => {
    if (confirm(section.dataset["clear"])) forgetAll();
  });
}

async function tell(made: Made, item: HTMLElement, words: DOMStringMap): Promise<void> {
  const answer = await ask<Link>(made.path, AbortSignal.timeout(WAIT_MS)).catch(() => undefined);
  const data = answer?.data;
  if (data?.created !== made.created) {
    const isGone = answer !== undefined && answer.status < 500;
    part(item, "target").textContent = words[isGone ? "gone" : "unknown"] ?? "";
    part(item, "visits").parentElement?.remove();
    if (isGone) part(item, "copy").remove();
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

/** Shows the short address, and says which link the buttons are for. */
function nameLink(item: HTMLElement, shortUrl: string): void {
  const shown = withoutScheme(shortUrl);
  part(item, "address").textContent = shown;
  part(item, "copy").dataset["copy"] = shortUrl;
  for (const button of item.querySelectorAll("button")) button.ariaLabel = `${button.textContent}: ${shown}`;
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
    typeof one?.path === "string" && typeof one.created === "string" && codeOf(one as Made) !== undefined
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

type Storage = "localStorage" | "sessionStorage";

/** A browser may refuse storage, or have none left: then nothing is remembered. */
function read(storage: Storage, key: string): string | null {
  try {
    return window[storage].getItem(key);
  } catch {
    return null;
  }
}

function write(storage: Storage, key: string, value: string | null): void {
  try {
    if (value === null) window[storage].removeItem(key);
    else window[storage].setItem(key, value);
  } catch {
    // As above.
  }
}
