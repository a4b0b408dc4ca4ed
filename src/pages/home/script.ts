import { type Duration, DURATIONS_MS } from "../../links/time.ts";
import { createItem, showStatus } from "../my-links/script/item.ts";
import { loadStatus, changeSavedLinks, saveStatuses, savedLinks } from "../my-links/script/saved-links.ts";
import { callApi, read, withoutScheme, write, writeTime } from "../shared/script.ts";
import { readPasted } from "./pasted-address.ts";

/** Servers accept 16 KiB for the address and all headers. */
const MAX_QUERY_CHARS = 12_000;
const PAUSE_MS = 300;
/** Session storage: this tab has sent the form, so the next preview shows a link created here. */
const SUBMITTED_KEY = "curt.sent";
/** Its value if the short address was also copied. */
const COPIED = "copied";
const SHOWN = 3;
/** In place of a code that the service will choose. */
const DOTS = 7;
/** In characters, as in the server's tickets. */
const LONG = 32;

/** Not on touch screens, where the keyboard would cover half of the page. */
export function focusAddress(): void {
  const isAlone = document.querySelector("[autofocus]") === null && document.activeElement === document.body;
  if (isAlone && matchMedia("(hover: hover)").matches)
    document.querySelector<HTMLElement>("[data-focus]")?.focus();
}

/** The bookmarklet is for dragging. The CSP blocks a click on it. */
export function keepBookmarklet(): void {
  document.querySelector(".bookmarklet a")?.addEventListener("click", (event) => event.preventDefault());
}

/** Hides and shows a typed password. It stays a text field, or browsers would offer to save the password. */
export function hidePassword(): void {
  const button = document.querySelector<HTMLButtonElement>("button[data-show]");
  if (!button) return;
  button.hidden = false;
  button.addEventListener("click", () => {
    const { show = "" } = button.dataset;
    button.dataset["show"] = button.textContent;
    button.textContent = show;
    button.previousElementSibling?.classList.toggle("masked");
  });
}

/**
 * Keeps the typed text when the language changes, in the query of the language links. Secrets stay out, because addresses
 * end up in histories and logs.
 */
export function keepDraft(): void {
  const form = document.querySelector<HTMLFormElement>("form[data-make]");
  if (!form) return;
  for (const link of document.querySelectorAll<HTMLAnchorElement>("a[hreflang]"))
    link.addEventListener("click", () => {
      const query = new URLSearchParams({ language: link.hreflang });
      for (const [name, value] of publicEntriesOf(form)) query.set(name, value);
      const search = query.toString();
      link.search = search.length <= MAX_QUERY_CHARS ? search : `language=${link.hreflang}`;
    });
}

/** Takes the address out of a pasted text. Without scripts, the server does. */
export function takeAddresses(): void {
  const input = document.querySelector<HTMLInputElement>("form[data-make] [name=original_url]");
  const notice = document.querySelector<HTMLElement>("[data-understood]");
  if (!input || !notice) return;
  input.addEventListener("paste", (event) => {
    const text = event.clipboardData?.getData("text").trim() ?? "";
    const { address } = readPasted(text);
    const isAll = input.selectionStart === 0 && input.selectionEnd === input.value.length;
    if (address === undefined || address === text || !isAll) return;
    event.preventDefault();
    input.value = address;
    input.dispatchEvent(new Event("input", { bubbles: true }));
    notice.hidden = false;
  });
  input.addEventListener("input", () => (notice.hidden = true));
}

interface Availability {
  readonly code: string;
  readonly available: boolean;
  readonly free: readonly string[];
}

/** While a code is typed, says whether it is free. */
export function checkCodes(): void {
  const output = document.querySelector<HTMLOutputElement>("output[data-check]");
  const input = output && document.querySelector<HTMLInputElement>(`#${output.htmlFor.value}`);
  if (!output || !input) return;
  const hint = output.textContent;
  let asking = new AbortController();
  let pause = 0;

  async function check(code: string): Promise<void> {
    asking = new AbortController();
    const { signal } = asking;
    try {
      const path = `${output?.dataset["check"]}${encodeURIComponent(code)}`;
      const { status, message, errors, data } = await callApi<Availability>(path, { signal });
      // The codes . and .. change the path, which answers 404. The form explains the mistake.
      if (status >= 500 || status === 404 || status === 429) return show("", hint);
      // The parameter's name is for API clients.
      if (data === undefined) return show("taken", errors[0]?.message ?? message);
      const { available = "", taken = "" } = output?.dataset ?? {};
      if (data.available) show("free", available);
      else show("taken", `${taken} `, ...othersThan(data));
    } catch {
      // The form checks the code again, so failures don't matter.
      if (!signal.aborted) show("", hint);
    }
  }

  /** All parts in one step, so that screen readers read them together. */
  function show(kind: "" | "free" | "taken", ...parts: readonly (Node | string | null)[]): void {
    if (!output) return;
    output.className = kind;
    output.replaceChildren(...parts.map((part) => part ?? ""));
  }

  /** A link to the taken code, and free ones like it. */
  function othersThan({ code, free }: Availability): readonly (Node | string)[] {
    const { see = "", free: freeAre = "" } = output?.dataset ?? {};
    const link = document.createElement("a");
    Object.assign(link, { href: `/${encodeURIComponent(code)}+`, target: "_blank", rel: "noreferrer" });
    link.textContent = see;
    const notice = Object.assign(document.createElement("span"), { className: "hint" });
    notice.append(link);
    if (free.length === 0) return [notice];
    notice.append(` ${freeAre}`);
    const offers = Object.assign(document.createElement("span"), { className: "offers" });
    offers.append(...free.map(offerOf));
    return [notice, offers];
  }

  function offerOf(code: string): Node {
    const button = document.createElement("button");
    button.type = "button";
    button.append(Object.assign(document.createElement("bdi"), { textContent: code }));
    button.addEventListener("click", () => {
      if (!input) return;
      input.value = code;
      input.dispatchEvent(new Event("input", { bubbles: true }));
      // The button disappears with its offer.
      input.focus();
    });
    return button;
  }

  input.addEventListener("input", () => {
    clearTimeout(pause);
    asking.abort();
    const code = input.value.trim();
    if (code === "") show("", hint);
    else pause = window.setTimeout(() => void check(code), PAUSE_MS);
  });
}

/** Draws the link that the form would create: the server's example stands there as long as the form is empty. */
export function drawDraft(): void {
  const form = document.querySelector<HTMLFormElement>("form[data-make]");
  const draft = form?.querySelector<HTMLElement>(".draft");
  const example = draft?.firstElementChild;
  if (!form || !draft || !example) return;
  const { blank = "", ends = "", never = "", password = "", visits = "" } = draft.dataset;

  function draw(): void {
    const fields = form && entriesOf(form);
    const valueOf = (name: string) => fields?.get(name)?.trim() ?? "";
    const [typed, code] = [valueOf("original_url"), valueOf("custom_code")];
    const ticket = example?.cloneNode(true) as Element;
    draft?.replaceChildren(ticket);
    if (typed === "" && code === "") return;
    const fill = (selector: string, text: string) =>
      Object.assign(ticket.querySelector(selector) as Element, { textContent: text });
    ticket.classList.add("blank");
    fill(".chip", blank);
    fill("mark bdi", code || "•".repeat(DOTS));
    const short = ticket.querySelector(".short");
    short?.classList.toggle("long", short.textContent.length > LONG);
    const url = URL.parse(readPasted(typed).address ?? typed);
    const [, www = "", host = "…"] = /^(www\.)?(.+)$/.exec(url?.host ?? "") ?? [];
    fill(".host span", www);
    fill(".host strong", host);
    fill(".whole bdi", url ? withoutScheme(url.href).slice(url.host.length) : "");
    const period = DURATIONS_MS[valueOf("expire_duration") as Duration];
    const endMs = period === undefined ? Date.parse(valueOf("expires_at")) : Date.now() + period;
    const isEndless = form?.querySelector<HTMLInputElement>(":checked")?.value === "";
    const chips = [
      isEndless ? never : Number.isNaN(endMs) ? "" : ends.replace("{ends}", writeTime(endMs)),
      valueOf("password") && password,
      valueOf("max_visits") && `${visits} ${valueOf("max_visits")}`,
    ];
    ticket.querySelector(".chips")?.replaceChildren(
      ...chips.filter(Boolean).map((text, nth) => {
        const className = nth === 0 && !isEndless && endMs > 0 ? "chip deadline" : "chip";
        return Object.assign(document.createElement("span"), { className, textContent: text });
      }),
    );
  }

  form.addEventListener("input", draw);
  // Browsers restore a form after this script when the reader comes back.
  addEventListener("pageshow", draw);
}

/**
 * Creates the link and copies its address, in answer to the press: browsers let a page copy only then, so the clipboard gets a
 * promise. Where they can't, the form is sent as without scripts, and the result has its button. A refused form comes back in
 * the response; `enhance` makes it work.
 */
export function copyCreated(enhance: () => void): void {
  const form = document.querySelector<HTMLFormElement>("form[data-make]");
  const button = form?.querySelector<HTMLButtonElement>("[data-copies]");
  if (!form || !button || !("ClipboardItem" in window)) return;
  // Browsers have a clipboard only with HTTPS.
  if (typeof navigator.clipboard?.write !== "function") return;
  button.textContent = button.dataset["copies"] ?? "";
  form.addEventListener("submit", (event) => {
    // A press on one of our offers has its own value.
    if (event.defaultPrevented || event.submitter?.hasAttribute("name")) return;
    event.preventDefault();
    const sent = send(form);
    const text = sent.then(({ address }) => {
      if (address === undefined) throw new Error("The form was refused");
      return new Blob([address], { type: "text/plain" });
    });
    text.catch(() => {});
    const copied = navigator.clipboard.write([new ClipboardItem({ "text/plain": text })]).then(
      () => true,
      () => false,
    );
    // Without a response, the browser shows its own error.
    void showResult(sent, copied, enhance).catch(() => form.submit());
  });
}

async function showResult(sent: Promise<Sent>, copied: Promise<boolean>, enhance: () => void): Promise<void> {
  const { page, content, address } = await sent;
  if (address !== undefined) {
    if (await copied) write("sessionStorage", SUBMITTED_KEY, COPIED);
    // Back shows an empty form, also if it was refused before.
    history.replaceState(null, "");
    return location.assign(page);
  }
  const main = content.querySelector("main");
  const form = main?.querySelector<HTMLFormElement>("form[data-make]");
  if (!main || !form) throw new Error("no form");
  document.title = content.title;
  document.querySelector("main")?.replaceWith(main);
  history.replaceState(Object.fromEntries(publicEntriesOf(form)), "");
  enhance();
  (main.querySelector<HTMLElement>("[autofocus]") ?? main).focus();
}

/** Shows the entries of a form that was refused on this page, after Back. */
export function restoreEntries(): void {
  const [navigation] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  // Browsers also keep the state for a reload or another opening, which should show an empty form.
  if (navigation?.type !== "back_forward") return;
  const fields = document.querySelector<HTMLFormElement>("form[data-make]")?.elements;
  for (const [name, value] of Object.entries((history.state ?? {}) as Record<string, string>)) {
    const field = fields?.namedItem(name);
    if (field instanceof HTMLInputElement || field instanceof RadioNodeList) field.value = value;
  }
}

/** The entries that are neither empty nor secret. */
function publicEntriesOf(form: HTMLFormElement): [name: string, value: string][] {
  return [...entriesOf(form)].filter(
    ([name, value]) => value !== "" && !form.querySelector(`[name=${name}][data-secret]`),
  );
}

/** The entries as the browser would send them. No field takes a file. */
function entriesOf(form: HTMLFormElement): URLSearchParams {
  return new URLSearchParams([...new FormData(form)].map(([name, value]) => [name, value as string]));
}

interface Sent {
  readonly page: string;
  readonly content: Document;
  /** The short address, unless the form was refused. */
  readonly address: string | undefined;
}

async function send(form: HTMLFormElement): Promise<Sent> {
  const body = entriesOf(form);
  const response = await fetch(form.action, { method: "POST", headers: { Accept: "text/html" }, body });
  const content = new DOMParser().parseFromString(await response.text(), "text/html");
  const { copy: address } = content.querySelector<HTMLElement>("main [data-copy]")?.dataset ?? {};
  return { page: `${response.url}#made`, content, address: response.redirected ? address : undefined };
}

/** Adds a link to the list if this browser created it with the form. */
export function rememberCreated(): void {
  const form = document.querySelector("form[data-make]");
  // An earlier submission was refused or is already in the list.
  if (form) write("sessionStorage", SUBMITTED_KEY, null);
  form?.addEventListener("submit", () => {
    write("sessionStorage", SUBMITTED_KEY, "1");
    const [before] = savedLinks();
    // Back from the new link, the browser may show this page as it was, ready to create the link twice.
    addEventListener("pageshow", ({ persisted }) => {
      if (persisted && savedLinks()[0]?.created !== before?.created) location.replace(location.pathname);
    });
  });
  const { link: path, created } = document.querySelector<HTMLElement>("[data-created]")?.dataset ?? {};
  if (location.hash !== "#made" || path === undefined || created === undefined) return;
  const submitted = read("sessionStorage", SUBMITTED_KEY);
  if (submitted === null) return;
  if (submitted === COPIED) document.querySelector("[data-copied]")?.removeAttribute("hidden");
  write("sessionStorage", SUBMITTED_KEY, null);
  const section = document.querySelector<HTMLElement>("[data-key]");
  const key = section?.dataset["key"];
  const isKept = changeSavedLinks((list) => [
    { path, created, key },
    ...list.filter((saved) => saved.path !== path),
  ]);
  if (isKept) section?.querySelector("[data-kept]")?.removeAttribute("data-kept");
}

/** Shows the latest links created in this browser, with their visits and expiry from the API. */
export function showCreatedHere(): void {
  const section = document.querySelector<HTMLElement>(".made-here");
  const template = section?.querySelector("template");
  if (!section || !template) return;
  const words = section.dataset;
  const all = savedLinks().filter(({ removed }) => removed === undefined);
  const requests = all.slice(0, SHOWN).map(async (saved) => {
    const item = createItem(template, saved, words);
    section.querySelector("ul")?.append(item);
    const answer = await loadStatus(saved);
    if (!("status" in answer)) return [];
    const now = { ...saved, ...answer };
    showStatus(item, now, words);
    return [now];
  });
  const more = section.querySelector("[data-all]");
  if (more && all.length > SHOWN)
    more.textContent = (words["all"] ?? "").replace("{count}", String(all.length));
  // After the last response, so that nothing moves while the list is visible.
  void settle(section);

  async function settle(list: HTMLElement): Promise<void> {
    const links = await Promise.all(requests);
    list.hidden = all.length === 0;
    saveStatuses(links.flat());
  }
}
