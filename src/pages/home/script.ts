import { createItem, showStatus } from "../my-links/script/item.ts";
import { loadStatus, changeSavedLinks, saveStatuses, savedLinks } from "../my-links/script/saved-links.ts";
import { callApi, read, withoutScheme, write } from "../shared/script.ts";
import { readPasted } from "./pasted-address.ts";

/** Servers accept 16 KiB for the address and all headers. */
const MAX_QUERY_CHARS = 12_000;
const PAUSE_MS = 300;
/** Session storage: this tab has sent the form, so the next preview shows a link created here. */
const SUBMITTED_KEY = "curt.sent";
const SHOWN = 3;

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
      for (const [name, value] of new FormData(form))
        if (typeof value === "string" && value !== "" && !form.querySelector(`[name=${name}][data-secret]`))
          query.set(name, value);
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
  readonly short_url: string;
}

/** While a code is typed, shows its short address and whether it is free. */
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
      const text = `${withoutScheme(data.short_url).replace(/\/$/, "")}: ${message}`;
      if (data.available) show("free", text);
      else show("taken", `${text} `, ...othersThan(data));
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
      if (persisted && savedLinks()[0]?.created !== before?.created) location.replace("/");
    });
  });
  const { link: path, created } = document.querySelector<HTMLElement>("[data-created]")?.dataset ?? {};
  if (location.hash !== "#made" || path === undefined || created === undefined) return;
  if (read("sessionStorage", SUBMITTED_KEY) === null) return;
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
  const all = savedLinks();
  const example = document.querySelector<HTMLElement>(".example");
  // It keeps its place until the list takes it.
  example?.classList.toggle("replaced", all.length > 0);
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
  void settle();

  /** Shows the list after the last response, so that nothing moves while it is visible. */
  async function settle(): Promise<void> {
    const links = await Promise.all(requests);
    if (all.length > 0) example?.replaceWith(section ?? "");
    if (section) section.hidden = all.length === 0;
    saveStatuses(links.flat());
  }
}
