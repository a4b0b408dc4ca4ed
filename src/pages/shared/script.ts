const { lang } = document.documentElement;

export interface Link {
  readonly short_url: string;
  /** Null if it is told only to those who know the link's password. */
  readonly original_url: string | null;
  readonly created: string;
  /** When its maker last changed where it leads. Null if never. */
  readonly changed: string | null;
  /** Null if the link never ends. */
  readonly expires: string | null;
  readonly state: string;
  readonly visits: number;
}

export interface Answer<T> {
  readonly status: number;
  readonly message: string;
  /** Only if the call succeeded. */
  readonly data?: T;
  /** Only if it failed. */
  readonly reason: string | null;
  /** How long to wait before asking again; 0 where the service does not mind. */
  readonly pollMs: number;
}

export interface ApiRequest extends Omit<RequestInit, "headers"> {
  readonly headers?: Readonly<Record<string, string>>;
}

/** Calls this service's API in the page's language, by default with GET. Rejects if no JSON answer arrives. */
export async function ask<T>(path: string, request: ApiRequest = {}): Promise<Answer<T>> {
  const response = await fetch(path, {
    ...request,
    headers: { "Accept-Language": lang, ...request.headers },
  });
  const { message, data } = (await response.json()) as { message: string; data?: T };
  const { headers } = response;
  const pollMs = Number(headers.get("X-Poll-Interval") ?? headers.get("Retry-After")) * 1000;
  return {
    status: response.status,
    message,
    pollMs,
    reason: headers.get("Curt-Reason"),
    ...(data !== undefined && { data }),
  };
}

/** A URL for people to read: without scheme, and with percent-encoding decoded if that is possible. */
export function withoutScheme(url: string): string {
  const bare = url.replace(/^https?:\/\//i, "");
  try {
    return decodeURI(bare);
  } catch {
    return bare;
  }
}

type Storage = "localStorage" | "sessionStorage";

/** A browser may deny access to storage, or it may be full. Then nothing is remembered. */
export function read(storage: Storage, key: string): string | null {
  try {
    return window[storage].getItem(key);
  } catch {
    return null;
  }
}

/** Returns false if the browser did not keep it. */
export function write(storage: Storage, key: string, value: string | null): boolean {
  try {
    if (value === null) window[storage].removeItem(key);
    else window[storage].setItem(key, value);
    return true;
  } catch {
    return false;
  }
}

/** The key in local storage of the token with which this browser makes links. */
const TOKEN = "curt.token";

/** Asks for the token once: a remembered one fills the field, which is shown again only if the token was refused. */
export function rememberToken(): void {
  const field = document.querySelector<HTMLElement>("[data-token]");
  const input = field?.querySelector("input");
  if (!field || !input) return;
  if (input.ariaInvalid !== null) write("localStorage", TOKEN, null);
  const known = knownToken();
  if (known !== null) input.value = known;
  field.hidden = known !== null;
  input.form?.addEventListener("submit", () => write("localStorage", TOKEN, input.value || null));
}

export function knownToken(): string | null {
  return read("localStorage", TOKEN);
}

/** How long "Copied" is shown. */
const SAID_MS = 3000;

/** Shows the copy and share buttons and makes them work. Without scripts they stay hidden. */
export function offerCopies(within: ParentNode): void {
  for (const button of within.querySelectorAll<HTMLButtonElement>("button[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", () => void copyFrom(button));
  }
  for (const button of within.querySelectorAll<HTMLButtonElement>("button[data-share]")) {
    button.hidden = !("share" in navigator);
    button.addEventListener("click", () => {
      // Rejects if the reader cancels.
      navigator.share({ url: button.dataset["share"] ?? "" }).catch(() => {});
    });
  }
}

async function copyFrom(button: HTMLButtonElement): Promise<void> {
  const { copy: given, done = "", failed = "" } = button.dataset;
  const source = button.previousElementSibling;
  const text = given || (source?.textContent ?? "");
  const said = button.parentElement?.querySelector("output");
  const isCopied = await copy(text);
  if (!said) return;
  said.textContent = isCopied ? done : failed;
  // Those who see it see it on the button.
  said.classList.toggle("unseen", isCopied);
  if (isCopied) sayOn(button, said, done);
  else getSelection()?.selectAllChildren(given ? showIn(said, given) : (source ?? said));
}

export function sayOn(button: HTMLButtonElement, said: Element, done: string): void {
  const marked = `✓ ${done}`;
  const label = button.textContent;
  if (label === marked) return;
  button.textContent = marked;
  setTimeout(() => {
    button.textContent = label;
    if (said.textContent === done) said.replaceChildren();
  }, SAID_MS);
}

/** After a failed copy, shows the whole text to copy by hand. The page shows the address only without its scheme. */
function showIn(said: Element, text: string): Element {
  const shown = document.createElement("bdi");
  shown.dir = "ltr";
  shown.textContent = text;
  said.append(" ", shown);
  return shown;
}

/** The clipboard API needs a secure context (https). Without it, copying a selection still works. */
async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text);
  }
}

function copySelected(text: string): boolean {
  const before = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "skip";
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  if (before instanceof HTMLElement) before.focus();
  return isCopied;
}

/** Removes the error message of a field once the reader changes the field. */
export function forgetRefusals(): void {
  for (const input of document.querySelectorAll<HTMLInputElement>("input[aria-invalid]")) {
    input.addEventListener(
      "input",
      () => {
        input.ariaInvalid = null;
        input.closest(".field")?.querySelector(".refusal")?.remove();
      },
      { once: true },
    );
  }
}

/** A double click is faster than this. If there is no answer for so long, the reader may try again. */
const ON_ITS_WAY_MS = 3000;

/** Keeps a double click from sending the form twice. The second request would fail, because the first took the code. */
export function sendOnce(): void {
  let sentMs = -ON_ITS_WAY_MS;
  document.querySelector("form[data-make]")?.addEventListener("submit", (event) => {
    const nowMs = performance.now();
    if (nowMs - sentMs < ON_ITS_WAY_MS) event.preventDefault();
    else sentMs = nowMs;
  });
  // The reader may have come back to this page from the browser's back/forward cache.
  addEventListener("pageshow", () => (sentMs = -ON_ITS_WAY_MS));
}

/** Shows all times in the reader's time zone, in the page's language. */
export function localiseTimes(within: ParentNode): void {
  const words = new Intl.DateTimeFormat(document.documentElement.lang, {
    dateStyle: "long",
    timeStyle: "short",
  });
  for (const time of within.querySelectorAll<HTMLTimeElement>("time[datetime]")) {
    time.title = time.dateTime;
    time.textContent = words.format(new Date(time.dateTime));
  }
}

/** Dates in forms are in the reader's own time zone. Without scripts, they are in UTC, as the forms say. */
export function tellZone(within: ParentNode): void {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  for (const form of within.querySelectorAll("form")) {
    const input = form.querySelector<HTMLInputElement>("[name=zone]");
    // Dates that were sent before are in the zone that was sent with them.
    if (!input || input.value !== "") continue;
    input.value = timeZone;
    for (const shown of form.querySelectorAll("[data-zone]")) shown.textContent = timeZone;
    for (const date of form.querySelectorAll<HTMLInputElement>("[data-instant]"))
      date.value = localDate(new Date(date.dataset["instant"] ?? ""));
  }
}

/** As `datetime-local` has it. */
function localDate(date: Date): string {
  const shifted = date.getTime() - date.getTimezoneOffset() * 60_000;
  return new Date(shifted).toISOString().slice(0, "2026-01-01T00:00".length);
}
