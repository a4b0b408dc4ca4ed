import { makeItem, showStatus } from "../my-links/script/item.ts";
import { askAbout, changeMade, keepTold, madeHere } from "../my-links/script/saved-links.ts";
import { ask, read, withoutScheme, write } from "../shared/script.ts";
import { readPasted } from "./pasted-address.ts";

/** The bookmarklet is for dragging to the bookmarks. Clicking it here does nothing: the CSP would block its script. */
export function keepBookmarklet(): void {
  document.querySelector(".bookmarklet a")?.addEventListener("click", (event) => event.preventDefault());
}

/** Servers accept 16 KiB for the address and all headers. This leaves room for the headers. */
const MAX_QUERY_CHARS = 12_000;

/**
 * Keeps the typed text when the language is switched. Adds it to the link's query, which fills the form again. The token and
 * the password are left out: addresses end up in histories and logs.
 */
export function keepTyped(): void {
  const form = document.querySelector<HTMLFormElement>("form[data-make]");
  if (!form) return;
  for (const link of document.querySelectorAll<HTMLAnchorElement>("a[hreflang]"))
    link.addEventListener("click", () => {
      const query = new URLSearchParams({ language: link.hreflang });
      for (const [name, value] of new FormData(form))
        if (typeof value === "string" && value !== "" && name !== "token" && name !== "password")
          query.set(name, value);
      const search = query.toString();
      link.search = search.length <= MAX_QUERY_CHARS ? search : `language=${link.hreflang}`;
    });
}

/** Takes the address out of a text that is pasted, and says so. Without scripts, the service does it. */
export function takeAddresses(): void {
  const input = document.querySelector<HTMLInputElement>("form[data-make] [name=original_url]");
  const said = document.querySelector<HTMLElement>("[data-understood]");
  if (!input || !said) return;
  input.addEventListener("paste", (event) => {
    const text = event.clipboardData?.getData("text").trim() ?? "";
    const { address } = readPasted(text);
    const isAll = input.selectionStart === 0 && input.selectionEnd === input.value.length;
    if (address === undefined || address === text || !isAll) return;
    event.preventDefault();
    input.value = address;
    input.dispatchEvent(new Event("input", { bubbles: true }));
    said.hidden = false;
  });
  input.addEventListener("input", () => (said.hidden = true));
}

/** Ask once the reader has not typed for this long. */
const PAUSE_MS = 300;

interface Availability {
  readonly code: string;
  readonly available: boolean;
  /** Codes like a taken one that are free. */
  readonly free: readonly string[];
  readonly short_url: string;
}

/** While a code is typed, shows the short address it would give and whether it is free. If it is taken, offers others. */
export function checkCodes(): void {
  const output = document.querySelector<HTMLOutputElement>("output[data-check]");
  const input = output && document.querySelector<HTMLInputElement>(`#${output.htmlFor.value}`);
  if (!output || !input) return;
  const hint = output.textContent;
  let asking = new AbortController();
  let pause = 0;

  async function check(written: string): Promise<void> {
    asking = new AbortController();
    const { signal } = asking;
    try {
      const path = `${output?.dataset["check"]}${encodeURIComponent(written)}`;
      const { status, message, data } = await ask<Availability>(path, { signal });
      // 404: the code is . or .., which turns the path into another one. The form explains what is wrong.
      if (status >= 500 || status === 404 || status === 429) return show("", hint);
      // Remove the name of the parameter, which is for programs.
      if (data === undefined) return show("taken", message.replace(`${input?.name}: `, ""));
      const told = `${withoutScheme(data.short_url)}: ${message}`;
      if (data.available) show("free", told);
      else show("taken", `${told} `, ...othersThan(data));
    } catch {
      // Aborted requests are replaced by the next one. Other failures do not matter: the form checks the code again.
      if (!signal.aborted) show("", hint);
    }
  }

  /** All at once, so that screen readers show it as one. */
  function show(kind: "" | "free" | "taken", ...parts: readonly (Node | string | null)[]): void {
    if (!output) return;
    output.className = kind;
    output.replaceChildren(...parts.map((part) => part ?? ""));
  }

  /** Where the code leads, and the codes that can be had instead. */
  function othersThan({ code, free }: Availability): readonly (Node | string)[] {
    const { see = "", free: freeAre = "" } = output?.dataset ?? {};
    const link = document.createElement("a");
    Object.assign(link, { href: `/${encodeURIComponent(code)}+`, target: "_blank", rel: "noreferrer" });
    link.textContent = see;
    const said = Object.assign(document.createElement("span"), { className: "hint" });
    said.append(link);
    if (free.length === 0) return [said];
    said.append(` ${freeAre}`);
    const offers = Object.assign(document.createElement("span"), { className: "offers" });
    offers.append(...free.map(offerOf));
    return [said, offers];
  }

  function offerOf(code: string): Node {
    const button = document.createElement("button");
    button.type = "button";
    button.append(Object.assign(document.createElement("bdi"), { textContent: code }));
    button.addEventListener("click", () => {
      if (!input) return;
      input.value = code;
      input.dispatchEvent(new Event("input", { bubbles: true }));
      // The button is gone with what it was offered for.
      input.focus();
    });
    return button;
  }

  input.addEventListener("input", () => {
    clearTimeout(pause);
    asking.abort();
    const written = input.value.trim();
    if (written === "") show("", hint);
    else pause = window.setTimeout(() => void check(written), PAUSE_MS);
  });
}

/** The key in session storage that says: this tab has sent the form, so the next preview is of a link made here. */
const SENT = "curt.sent";
/** So many of the latest links are on the home page. */
const SHOWN = 3;

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
  const shown = document.querySelector<HTMLElement>("[data-key]");
  const key = shown?.dataset["key"];
  const isKept = changeMade((list) => [{ path, created, key }, ...list.filter((made) => made.path !== path)]);
  if (isKept) shown?.querySelector("[data-kept]")?.removeAttribute("data-kept");
}

/** Shows the latest links made in this browser, with their current visits and expiry from the API. */
export function showMadeHere(): void {
  const section = document.querySelector<HTMLElement>(".made-here");
  const template = section?.querySelector("template");
  if (!section || !template) return;
  const words = section.dataset;
  const all = madeHere();
  const told = all.slice(0, SHOWN).map(async (made) => {
    const item = makeItem(template, made, words);
    section.querySelector("ul")?.append(item);
    const answer = await askAbout(made);
    if (!("told" in answer)) return [];
    const now = { ...made, ...answer };
    showStatus(item, now, words);
    return [now];
  });
  const more = section.querySelector("[data-all]");
  if (more && all.length > SHOWN)
    more.textContent = (words["all"] ?? "").replace("{count}", String(all.length));
  void settle();

  /** Shows the list only once every request has finished, so that nothing moves while it is visible. */
  async function settle(): Promise<void> {
    const links = await Promise.all(told);
    if (section) section.hidden = all.length === 0;
    keepTold(links.flat());
  }
}
