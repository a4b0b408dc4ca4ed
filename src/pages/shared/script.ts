const SAID_MS = 3000;
/** Longer than a double click. The reader may try again after this without a response. */
const ON_ITS_WAY_MS = 3000;
/** Local storage: the token for creating links. */
const TOKEN = "curt.token";

export interface Link {
  readonly short_url: string;
  /** Null if it is secret, behind the link's password. */
  readonly target: string | null;
  /** Absent without the manage key. */
  readonly title?: string | null;
  readonly created_at: string;
  /** Null if its target never changed. */
  readonly changed_at: string | null;
  /** Null if it never ends. */
  readonly expires_at: string | null;
  readonly state: string;
  readonly visits: number;
}

export interface Answer<T> {
  readonly status: number;
  readonly message: string;
  /** Each mistake; the message leaves out the field's name. */
  readonly errors: readonly { readonly field: string | null; readonly message: string }[];
  /** Set if the call succeeded. */
  readonly data?: T;
  /** Set if the call failed. */
  readonly reason: string | null;
  /** The requested pause before the next call, or 0. */
  readonly pollMs: number;
}

interface ApiRequest extends Omit<RequestInit, "headers"> {
  readonly headers?: Readonly<Record<string, string>>;
}

/** Calls this service's API in the page's language. Rejects without a JSON response. */
export async function callApi<T>(path: string, request: ApiRequest = {}): Promise<Answer<T>> {
  const response = await fetch(path, {
    ...request,
    headers: { "Accept-Language": document.documentElement.lang, ...request.headers },
  });
  const {
    message,
    data,
    errors = [],
  } = (await response.json()) as Pick<Answer<T>, "message" | "data"> & Partial<Pick<Answer<T>, "errors">>;
  const { headers } = response;
  const pollMs = Number(headers.get("X-Poll-Interval") ?? headers.get("Retry-After")) * 1000;
  return {
    status: response.status,
    message,
    errors,
    pollMs,
    reason: reasonOf(response),
    ...(data !== undefined && { data }),
  };
}

/** Why a request was refused, for programs. */
export function reasonOf({ headers }: Response): string | null {
  return headers.get("Curt-Reason");
}

/** The header that sends a manage key. */
export function bearer(key: string): ApiRequest {
  return { headers: { Authorization: `Bearer ${key}` } };
}

/** A URL for people: without scheme, and decoded if possible. */
export function withoutScheme(url: string): string {
  const bare = url.replace(/^https?:\/\//i, "");
  try {
    return decodeURI(bare);
  } catch {
    return bare;
  }
}

type Storage = "localStorage" | "sessionStorage";

/** Null if the browser denies access to its storage. */
export function read(storage: Storage, key: string): string | null {
  try {
    return window[storage].getItem(key);
  } catch {
    return null;
  }
}

/** False if the browser denies access to its storage, or if that is full. */
export function write(storage: Storage, key: string, value: string | null): boolean {
  try {
    if (value === null) window[storage].removeItem(key);
    else window[storage].setItem(key, value);
    return true;
  } catch {
    return false;
  }
}

/** Fills in the stored token. The field stays hidden unless the service refused it. */
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
  const { copy: value, done = "", failed = "" } = button.dataset;
  const source = button.previousElementSibling;
  const text = value || (source?.textContent ?? "");
  const output = button.parentElement?.querySelector("output");
  const isCopied = await copy(text);
  if (!output) return;
  output.textContent = isCopied ? done : failed;
  // Sighted readers see it on the button.
  output.classList.toggle("unseen", isCopied);
  if (isCopied) showDone(button, output, done);
  else getSelection()?.selectAllChildren(value ? showIn(output, value) : (source ?? output));
}

export function showDone(button: HTMLButtonElement, output: Element, done: string): void {
  const withCheck = `✓ ${done}`;
  const label = button.textContent;
  if (label === withCheck) return;
  button.textContent = withCheck;
  setTimeout(() => {
    button.textContent = label;
    if (output.textContent === done) output.replaceChildren();
  }, SAID_MS);
}

/** After a failed copy, shows the whole text, because the page omits the scheme. */
function showIn(output: Element, text: string): Element {
  const element = document.createElement("bdi");
  element.dir = "ltr";
  element.textContent = text;
  output.append(" ", element);
  return element;
}

/** The clipboard API needs a secure context (https). Elsewhere, copying a selection still works. */
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

/** Removes the error message of a field once the reader changes it. */
export function clearStaleErrors(): void {
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

/** Measures codes for their marker's stroke, where a field can't be as wide as its text. */
export function measureCodes(): void {
  const context = document.createElement("canvas").getContext("2d");
  if (!context || CSS.supports("field-sizing", "content")) return;
  for (const input of document.querySelectorAll<HTMLInputElement>(".prefixed input")) {
    const measure = () => {
      const { font, letterSpacing } = getComputedStyle(input);
      Object.assign(context, { font, letterSpacing });
      input.style.setProperty("--typed", `${context.measureText(input.value).width + 4}px`);
    };
    measure();
    input.addEventListener("input", measure);
  }
}

/**
 * Keeps a double click from sending the form twice. The second request would fail, because the first took the code. Names the
 * form, so that the service knows a retry after a lost response.
 */
export function submitOnce(): void {
  let sentMs = -ON_ITS_WAY_MS;
  const form = document.querySelector("form[data-make]");
  const name = form?.querySelector<HTMLInputElement>("[name=form]");
  // Only over HTTPS does the script send the form, and have random names.
  if (name && isSecureContext) name.value ||= crypto.randomUUID();
  form?.addEventListener("submit", (event) => {
    const nowMs = performance.now();
    if (nowMs - sentMs < ON_ITS_WAY_MS) event.preventDefault();
    else sentMs = nowMs;
  });
  // The reader may have come back through the back/forward cache.
  addEventListener("pageshow", () => (sentMs = -ON_ITS_WAY_MS));
}

/** The page's language, in the reader's region if it is one of the browser's languages: "en-GB" for "en". */
export function regionalLanguage(): string {
  const { lang } = document.documentElement;
  return navigator.languages.find((language) => language.split("-")[0] === lang && isTag(language)) ?? lang;
}

/** A browser takes its language from the system, whose locales have names such as "en-US@posix". */
function isTag(language: string): boolean {
  try {
    return Intl.getCanonicalLocales(language).length > 0;
  } catch {
    return false;
  }
}

/** In the reader's time zone, in the page's language. */
export function writeTime(ms: number): string {
  return new Intl.DateTimeFormat(regionalLanguage(), { dateStyle: "medium", timeStyle: "short" }).format(ms);
}

/** Shows all times in the reader's time zone. */
export function localiseTimes(within: ParentNode): void {
  for (const time of within.querySelectorAll<HTMLTimeElement>("time[datetime]")) {
    time.title = time.dateTime;
    time.textContent = writeTime(Date.parse(time.dateTime));
  }
}

/** Converts the dates of forms to the reader's time zone. Without scripts, they are in UTC. */
export function convertDates(within: ParentNode): void {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  for (const form of within.querySelectorAll("form")) {
    const input = form.querySelector<HTMLInputElement>("[name=zone]");
    // Submitted dates are in the submitted zone.
    if (!input || input.value !== "") continue;
    input.value = timeZone;
    for (const name of form.querySelectorAll("[data-zone]")) name.textContent = timeZone;
    for (const date of form.querySelectorAll<HTMLInputElement>("[data-instant]"))
      date.defaultValue = localDate(new Date(date.dataset["instant"] ?? ""));
  }
}

/** As `datetime-local`. */
function localDate(date: Date): string {
  const shifted = date.getTime() - date.getTimezoneOffset() * 60_000;
  return new Date(shifted).toISOString().slice(0, "2026-01-01T00:00".length);
}
