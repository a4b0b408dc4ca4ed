import { forgetKey, savedLinks } from "../my-links/script/saved-links.ts";
import {
  type Answer,
  bearer,
  callApi,
  type Link,
  localiseTimes,
  offerCopies,
  convertDates,
  reasonOf,
  writeTime,
} from "../shared/script.ts";

/** Changes and ends links without leaving the page. Without scripts, the same forms are sent. */
export function manageLinks(): void {
  takeKey();
  // A manage link may be opened while its preview is open.
  addEventListener("hashchange", takeKey);
  takeForms();
}

/** Removes the key from the address bar immediately, because people share that address. */
function takeKey(): void {
  const [, key] = /^#key=([\w-]+)$/.exec(location.hash) ?? [];
  const { pathname, search } = location;
  const [, path] = /^(.+)\+(?:manage)?$/.exec(pathname) ?? [];
  if (path === undefined) return;
  if (key === undefined) return void findScheduled(path).catch(() => {});
  history.replaceState(null, "", pathname + search);
  // If the service is unreachable, the browser says so when it opens the form.
  unlock(path, key).catch(() => location.assign(`${path}+manage`));
}

/** Until a link starts, only the browser that has its key finds it. */
async function findScheduled(path: string): Promise<void> {
  if (document.querySelector('main [action="/+go"]') === null) return;
  const { key } = savedLinks().find((saved) => saved.path === `/api/v1/links${path}`) ?? {};
  if (key === undefined) return;
  const { data } = await callApi<Link>(`/api/v1/links${path}`, bearer(key));
  if (data !== undefined) await show(path, key);
}

async function unlock(path: string, key: string): Promise<void> {
  const { data, message, reason } = await callApi<Link>(`/api/v1/links${path}`, bearer(key));
  if (data !== undefined) return show(path, key);
  forgetRefused(reason, path, key);
  const refusal = document.createElement("p");
  refusal.className = "error";
  refusal.role = "alert";
  document.querySelector("main")?.prepend(refusal);
  refusal.textContent = message;
}

/** Puts the forms with the present link into the page, and shows the confirmation. */
async function show(path: string, key: string, done?: string): Promise<void> {
  const response = await fetch(`${path}+manage`, {
    method: "POST",
    headers: { Accept: "text/html", "Accept-Language": document.documentElement.lang },
    body: new URLSearchParams({ key }),
  });
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  forgetRefused(reasonOf(response), path, key);
  const fresh = page.querySelector(".manage");
  if (!fresh) throw new Error("The key is not right any more");
  document.title = page.title;
  document.querySelector("main")?.replaceChildren(fresh);
  // The page in another language has to load the link again.
  for (const link of document.querySelectorAll<HTMLAnchorElement>("a[hreflang]")) link.hash = `key=${key}`;
  localiseTimes(fresh);
  convertDates(fresh);
  offerCopies(fresh);
  takeForms();
  const confirmation = fresh.querySelector<HTMLElement>("[role=status]");
  if (confirmation && done !== undefined) confirmation.textContent = done;
  (done === undefined ? fresh.querySelector<HTMLElement>("h1") : confirmation)?.focus();
}

function forgetRefused(reason: string | null, path: string, key: string): void {
  if (reason === "key.wrong") forgetKey({ path: `/api/v1/links${path}`, key });
}

function takeForms(): void {
  for (const form of document.querySelectorAll<HTMLFormElement>("form[data-act]")) {
    form.addEventListener("input", () => showChanges(form));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (form.ariaBusy === "true") return;
      form.ariaBusy = "true";
      send(form)
        // The browser reports that the service is unreachable.
        .catch(() => form.submit())
        .finally(() => (form.ariaBusy = "false"));
    });
  }
}

async function send(form: HTMLFormElement): Promise<void> {
  const api = form.closest<HTMLElement>("[data-link]")?.dataset["link"] ?? "";
  const key = input(form, "key")?.value ?? "";
  const isChange = form.dataset["act"] === "change";
  const sure = input(form, "sure");
  if (sure?.checked === false)
    return refuse(form, [{ field: "sure", message: sure.dataset["missing"] ?? "" }]);
  const { headers } = bearer(key);
  const { status, data, message, errors } = await callApi<Link>(api, {
    method: isChange ? "PATCH" : "DELETE",
    headers: { ...headers, ...(isChange && { "If-Match": `"${input(form, "seen")?.value ?? ""}"` }) },
    ...(isChange && { body: JSON.stringify(changesIn(form)) }),
  });
  // The page for it shows the present link and the reason in words for people.
  if (status === 412) form.submit();
  else if (data === undefined) refuse(form, errors);
  else await show(new URL(form.action).pathname.replace(/\+manage$/, ""), key, message);
}

function input(form: HTMLFormElement, name: string): HTMLInputElement | null {
  return form.querySelector(`[name=${name}]`);
}

/** The changed fields, as the API expects them. */
function changesIn(form: HTMLFormElement): object {
  return Object.fromEntries(changedIn(form).map((field) => [field.name, valueOf(form, field)]));
}

function changedIn(form: HTMLFormElement): HTMLInputElement[] {
  return Array.from(form.querySelectorAll<HTMLInputElement>("[data-term]")).filter((field) => {
    const { type, value, defaultValue, checked, defaultChecked } = field;
    if (type === "checkbox") return checked !== defaultChecked;
    if (type === "password") return value !== "" || removesPassword(form);
    if (type !== "radio") return value.trim() !== defaultValue;
    const date = dateOf(form, field);
    return checked && (!defaultChecked || date?.value !== date?.defaultValue);
  });
}

function removesPassword(form: HTMLFormElement): boolean {
  return input(form, "remove")?.checked === true;
}

/** The date of a choice, if that is the choice. */
function dateOf(form: HTMLFormElement, { name, value }: HTMLInputElement): HTMLInputElement | null {
  return value === "date" ? input(form, `${name}_date`) : null;
}

/** Throws for a missing date, and then the form is sent. */
function valueOf(form: HTMLFormElement, field: HTMLInputElement): unknown {
  const { name, type, value, checked, inputMode } = field;
  switch (type) {
    case "radio": {
      const date = dateOf(form, field);
      if (date) return new Date(date.value).toISOString();
      return value === "never" || value === "now" ? null : value;
    }
    case "checkbox":
      return checked;
    case "password":
      return value || null;
    default:
      if (name === "target") return value.trim();
      return inputMode === "numeric" ? readNumber(value.trim()) : value.trim() || null;
  }
}

const NONE = "–";

/** Lists what the form would change, before it is sent. */
function showChanges(form: HTMLFormElement): void {
  const list = form.querySelector("[data-changes]");
  const changed = changedIn(form);
  list?.parentElement?.toggleAttribute("hidden", changed.length === 0);
  list?.replaceChildren(...changed.map((field) => describeChange(form, field)));
}

function describeChange(form: HTMLFormElement, field: HTMLInputElement): Element {
  const item = document.createElement("li");
  const group = field.type === "radio" ? field.closest("fieldset")?.querySelector("legend") : null;
  const [before, after] = textsOf(form, field).map((text, nth) => {
    const element = document.createElement(nth === 0 ? "del" : "ins");
    element.dir = "auto";
    element.textContent = text || NONE;
    return element;
  });
  item.append((group ?? field.labels?.[0])?.textContent.trim() ?? "", " ", before ?? "", " → ", after ?? "");
  return item;
}

/** The value before and after the change. */
function textsOf(form: HTMLFormElement, field: HTMLInputElement): string[] {
  const { type, name, value, defaultValue, checked } = field;
  switch (type) {
    case "radio": {
      const present = Array.from(form.querySelectorAll<HTMLInputElement>(`[name=${name}]`)).find(
        ({ defaultChecked }) => defaultChecked,
      );
      return [present, field].map((choice, nth) => {
        const date = choice && dateOf(form, choice);
        if (!date) return choice?.labels?.[0]?.textContent ?? "";
        const ms = Date.parse(nth === 0 ? date.defaultValue : date.value);
        return Number.isNaN(ms) ? "" : writeTime(ms);
      });
    }
    case "checkbox":
      return checked ? ["", "✓"] : ["✓", ""];
    case "password":
      return [removesPassword(form) ? HIDDEN : "", value && HIDDEN];
    default:
      return [defaultValue, value.trim()];
  }
}

const HIDDEN = "••••••";

/** Other texts become a number that the API refuses with the right message. */
function readNumber(limitText: string): number | null {
  return limitText === "" ? null : Number(/^\d{1,15}$/.exec(limitText)?.[0] ?? -1);
}

/** Shows each error beside its field, as the page does without scripts. */
function refuse(form: HTMLFormElement, errors: Answer<Link>["errors"]): void {
  for (const old of form.querySelectorAll(".refusal")) old.remove();
  for (const refused of form.querySelectorAll("[aria-invalid]")) refused.removeAttribute("aria-invalid");
  for (const { field: name, message } of errors) {
    if (name === null) {
      showError(form.lastElementChild, message, "form-error");
      continue;
    }
    const isDate = new FormData(form).get(name) === "date";
    const field = input(form, isDate ? `${name}_date` : name);
    if (!field) continue;
    const id = `${name}-error`;
    const hint = isDate
      ? field.nextElementSibling
      : field.closest(".field")?.querySelector(":scope > .hint, :scope > .below > .hint");
    showError(hint, message, id);
    field.ariaInvalid = "true";
    field.closest("details")?.toggleAttribute("open", true);
    field.setAttribute("aria-describedby", `${id} ${name}-hint`);
  }
  form.querySelector<HTMLElement>("[aria-invalid]")?.focus();
}

function showError(before: Element | null | undefined, text: string, id: string): void {
  const refusal = document.createElement("div");
  refusal.className = "refusal";
  const error = Object.assign(document.createElement("p"), { className: "error", id, role: "alert" });
  error.textContent = text;
  refusal.append(error);
  before?.before(refusal);
}
