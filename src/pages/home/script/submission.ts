import { changeSavedLinks, savedLinks } from "../../my-links/script/saved-links.ts";
import { read, write } from "../../shared/script.ts";
import { entriesOf, publicEntriesOf } from "./draft.ts";

/** Session storage: this tab has sent the form, so the next preview shows a link created here. */
const SUBMITTED_KEY = "curt.sent";
/** Its value if the short address was also copied. */
const COPIED = "copied";

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
