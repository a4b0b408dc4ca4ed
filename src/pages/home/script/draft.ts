import { type Duration, DURATIONS_MS } from "../../../links/time.ts";
import { withoutScheme, writeTime } from "../../shared/script.ts";
import { readPasted } from "../pasted-address.ts";

/** Servers accept 16 KiB for the address and all headers. */
const MAX_QUERY_CHARS = 12_000;
/** In place of a code that the service will choose. */
const DOTS = 7;
/** As in the server's tickets, which count columns. */
const LONG = 18;

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
    short?.classList.toggle("long", code.length > LONG);
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

/** The entries that are neither empty nor secret. */
export function publicEntriesOf(form: HTMLFormElement): [name: string, value: string][] {
  return [...entriesOf(form)].filter(
    ([name, value]) => value !== "" && !form.querySelector(`[name=${name}][data-secret]`),
  );
}

/** The entries as the browser would send them. No field takes a file. */
export function entriesOf(form: HTMLFormElement): URLSearchParams {
  return new URLSearchParams([...new FormData(form)].map(([name, value]) => [name, value as string]));
}
