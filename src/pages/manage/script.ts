import { type ApiRequest, ask, type Link } from "../shared/script/api-call.ts";
import { offerCopies } from "../shared/script/copy.ts";
import { tellZone } from "../shared/script/time-zone.ts";
import { localiseTimes } from "../shared/script/times.ts";

/** Messages of the API begin with the name of the field that they are about. */
const FIELD = /(?:^| )(target|starts|expires|max_visits|password): /;

/** Lets whoever has the key change and end a link without leaving the page. Without scripts, the same forms are sent. */
export function manageLinks(): void {
  takeKey();
  // Somebody may follow a manage address while its preview is open.
  addEventListener("hashchange", takeKey);
  takeForms();
}

/** Takes the key out of the address bar at once, because people share that address. */
function takeKey(): void {
  const [, key] = /^#key=([\w-]+)$/.exec(location.hash) ?? [];
  const { pathname, search } = location;
  if (key === undefined || !pathname.endsWith("+")) return;
  history.replaceState(null, "", pathname + search);
  // If the service cannot be reached, the browser says so when it opens the form.
  unlock(pathname.slice(0, -1), key).catch(() => location.assign(`${pathname}manage`));
}

async function unlock(path: string, key: string): Promise<void> {
  const { data, message } = await ask<Link>(`/api/v1/links${path}`, keyed(key));
  if (data !== undefined) return show(path, key);
  const refusal = document.createElement("p");
  refusal.className = "error";
  refusal.role = "alert";
  document.querySelector("main")?.prepend(refusal);
  refusal.textContent = message;
}

/** Puts the forms into the page, with the link as it is now, and says what was done. */
async function show(path: string, key: string, done?: string): Promise<void> {
  const response = await fetch(`${path}+manage`, {
    method: "POST",
    headers: { Accept: "text/html", "Accept-Language": document.documentElement.lang },
    body: new URLSearchParams({ key }),
  });
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const fresh = page.querySelector(".manage");
  if (!fresh) throw new Error("The key is not right any more");
  document.title = page.title;
  document.querySelector("main")?.replaceChildren(fresh);
  // The page in another language has to ask for the link again.
  for (const link of document.querySelectorAll<HTMLAnchorElement>("a[hreflang]"))
    if (location.pathname.endsWith("+")) link.hash = `key=${key}`;
  localiseTimes(fresh);
  tellZone(fresh);
  offerCopies(fresh);
  takeForms();
  const said = fresh.querySelector<HTMLElement>("[role=status]");
  if (said && done !== undefined) said.textContent = done;
  (done === undefined ? fresh.querySelector<HTMLElement>("h1") : said)?.focus();
}

function takeForms(): void {
  for (const form of document.querySelectorAll<HTMLFormElement>("form[data-act]")) {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (form.ariaBusy === "true") return;
      form.ariaBusy = "true";
      send(form)
        // The browser says that the service cannot be reached.
        .catch(() => form.submit())
        .finally(() => (form.ariaBusy = "false"));
    });
  }
}

async function send(form: HTMLFormElement): Promise<void> {
  const api = form.closest<HTMLElement>("[data-link]")?.dataset["link"] ?? "";
  const key = input(form, "key")?.value ?? "";
  const isChange = form.dataset["act"] === "change";
  const { data, message } = await ask<Link>(api, {
    ...keyed(key),
    method: isChange ? "PATCH" : "DELETE",
    ...(isChange && { body: JSON.stringify(changesIn(form)) }),
  });
  if (data === undefined) refuse(form, message);
  else await show(new URL(form.action).pathname.replace(/\+manage$/, ""), key, message);
}

function keyed(key: string): ApiRequest {
  return { headers: { Authorization: `Bearer ${key}` } };
}

function input(form: HTMLFormElement, name: string): HTMLInputElement | null {
  return form.querySelector(`[name=${name}]`);
}

/** What was changed in the form, as the API wants it. */
function changesIn(form: HTMLFormElement): object {
  const [target, limit] = [input(form, "target"), input(form, "max_visits")];
  const [starts, expires] = [chosenIn(form, "starts"), chosenIn(form, "expires")];
  const password = input(form, "password")?.value;
  const written = limit?.value.trim();
  return {
    ...(target && target.value.trim() !== target.defaultValue && { target: target.value.trim() }),
    ...(starts !== undefined && { starts }),
    ...(expires !== undefined && { expires }),
    ...(limit && written !== limit.defaultValue && { max_visits: readNumber(written ?? "") }),
    ...(password ? { password } : input(form, "remove")?.checked && { password: null }),
  };
}

/** When something begins or ends, if that was changed. Throws if a date was chosen and none is there: then the form is sent. */
function chosenIn(form: HTMLFormElement, name: string): string | null | undefined {
  const chosen = new FormData(form).get(name);
  if (chosen === "date") return new Date(input(form, `${name}_date`)?.value ?? "").toISOString();
  if (chosen === "never" || chosen === "now") return null;
  return typeof chosen === "string" && chosen !== "" ? chosen : undefined;
}

/** What is no number is sent as one that the API refuses, with the right message. */
function readNumber(written: string): number | null {
  return written === "" ? null : Number(/^\d{1,15}$/.exec(written)?.[0] ?? -1);
}

/** Shows each part of a message beside its field, as the service does without scripts. */
function refuse(form: HTMLFormElement, message: string): void {
  for (const old of form.querySelectorAll(".refusal")) old.remove();
  for (const refused of form.querySelectorAll("[aria-invalid]")) refused.removeAttribute("aria-invalid");
  const [about = "", ...told] = message.split(FIELD);
  if (about !== "") tell(form.lastElementChild, about, "form-error");
  for (let nth = 0; nth < told.length; nth += 2) {
    const name = told[nth] ?? "";
    const isDate = new FormData(form).get(name) === "date";
    const field = input(form, isDate ? `${name}_date` : name);
    if (!field) continue;
    const id = `${name}-error`;
    const hint = isDate ? field.nextElementSibling : field.closest(".field")?.querySelector(":scope > .hint");
    tell(hint, told[nth + 1] ?? "", id);
    field.ariaInvalid = "true";
    field.setAttribute("aria-describedby", `${id} ${name}-hint`);
  }
  form.querySelector<HTMLElement>("[aria-invalid]")?.focus();
}

function tell(before: Element | null | undefined, text: string, id: string): void {
  const refusal = document.createElement("div");
  refusal.className = "refusal";
  const error = Object.assign(document.createElement("p"), { className: "error", id, role: "alert" });
  error.textContent = text;
  refusal.append(error);
  before?.before(refusal);
}
