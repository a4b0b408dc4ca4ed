import { ask, type Link } from "./api.ts";

/** In this browser's local storage; nobody else reads it. */
const LIST = "curt.made-here";
/** In the tab's storage: a form was sent, so the preview that comes next is of a link made here. */
const SENT = "curt.sent";
const MAX_LINKS = 50;
/** For what the service tells of a link. */
const WAIT_MS = 5000;
const DAY_MS = 86_400_000;
/** 9999-12-31T23:59:59.999Z: a link without an end. */
const NEVER = "9999-12-31T23:59:59.999Z";

interface Made {
  readonly path: string;
  /** Tells the link from a later one of the same code. */
  readonly created: string;
}

/** Notes a link that was made with the form of this browser. */
export function rememberMade(): void {
  document
    .querySelector("form[data-make]")
    ?.addEventListener("submit", () => write("sessionStorage", SENT, "1"));
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
    next.querySelector("button")?.focus();
  }

  function forgetAll(): void {
    keep([]);
    list?.replaceChildren();
    if (section) section.hidden = true;
    document.querySelector<HTMLElement>("input")?.focus();
  }

  const told = madeHere().map((made) => {
    const item = template.content.firstElementChild?.cloneNode(true) as HTMLElement;
    const code = decodeURIComponent(made.path.split("/").at(-1) ?? "");
    const address = part(item, "address");
    address.setAttribute("href", `/${encodeURIComponent(code)}+`);
    address.textContent = `${location.host}/${code}`;
    item.querySelector("button")?.addEventListener("click", () => forget(made, item));
    list.append(item);
    return tell(made, item, section.dataset);
  });
  // Once all is known, or will not be: nothing that is seen moves.
  void Promise.allSettled(told).then(() => (section.hidden = list.children.length === 0));
  section.querySelector("[data-forget-all]")?.addEventListener("click", forgetAll);
}

async function tell(made: Made, item: HTMLElement, words: DOMStringMap): Promise<void> {
  const { status, data } = await ask<Link>(made.path, AbortSignal.timeout(WAIT_MS));
  if (data === undefined || data.created !== made.created) {
    if (status < 500) part(item, "left").textContent = words["gone"] ?? "";
    return;
  }
  part(item, "address").textContent = data.short_url.replace(/^https?:\/\//, "");
  part(item, "target").textContent = new URL(data.original_url).host;
  part(item, "visits").textContent = new Intl.NumberFormat(document.documentElement.lang).format(data.visits);
  part(item, "left").textContent = timeLeft(data.expiration_date, words);
}

function timeLeft(end: string, words: DOMStringMap): string {
  if (end === NEVER) return words["never"] ?? "";
  const leftMs = Date.parse(end) - Date.now();
  if (leftMs <= 0) return words["ended"] ?? "";
  const format = new Intl.RelativeTimeFormat(document.documentElement.lang);
  const [count, unit] =
    leftMs >= 2 * DAY_MS
      ? ([leftMs / DAY_MS, "day"] as const)
      : leftMs >= DAY_MS / 12
        ? ([(leftMs / DAY_MS) * 24, "hour"] as const)
        : ([(leftMs / DAY_MS) * 1440, "minute"] as const);
  return (words["ends"] ?? "").replace("{left}", format.format(Math.floor(count), unit));
}

function part(item: HTMLElement, name: string): HTMLElement {
  return item.querySelector(`[data-${name}]`) as HTMLElement;
}

function madeHere(): Made[] {
  try {
    const list: unknown = JSON.parse(read("localStorage", LIST) ?? "[]");
    return Array.isArray(list) ? list.filter(isMade) : [];
  } catch {
    return [];
  }
}

function isMade(one: Partial<Made> | null): one is Made {
  return typeof one?.path === "string" && typeof one.created === "string";
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
