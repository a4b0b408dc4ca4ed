import { createItem, showStatus } from "../../my-links/script/item.ts";
import { loadStatus, saveStatuses, savedLinks } from "../../my-links/script/saved-links.ts";
import { callApi } from "../../shared/script.ts";
import { readPasted } from "../pasted-address.ts";

const PAUSE_MS = 300;
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
