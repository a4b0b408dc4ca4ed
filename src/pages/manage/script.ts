import {
  type Answer,
  bearer,
  callApi,
  type Link,
  localiseTimes,
  offerCopies,
  convertDates,
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
  if (key === undefined || !pathname.endsWith("+")) return;
  history.replaceState(null, "", pathname + search);
  // If the service is unreachable, the browser says so when it opens the form.
  unlock(pathname.slice(0, -1), key).catch(() => location.assign(`${pathname}manage`));
}

async function unlock(path: string, key: string): Promise<void> {
  const { data, message } = await callApi<Link>(`/api/v1/links${path}`, bearer(key));
  if (data !== undefined) return show(path, key);
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
  const fresh = page.querySelector(".manage");
  if (!fresh) throw new Error("The key is not right any more");
  document.title = page.title;
  document.querySelector("main")?.replaceChildren(fresh);
  // The page in another language has to load the link again.
  for (const link of document.querySelectorAll<HTMLAnchorElement>("a[hreflang]"))
    if (location.pathname.endsWith("+")) link.hash = `key=${key}`;
  localiseTimes(fresh);
  convertDates(fresh);
  offerCopies(fresh);
  takeForms();
  const confirmation = fresh.querySelector<HTMLElement>("[role=status]");
  if (confirmation && done !== undefined) confirmation.textContent = done;
  (done === undefined ? fresh.querySelector<HTMLElement>("h1") : confirmation)?.focus();
}

function takeForms(): void {
  for (const form of document.querySelectorAll<HTMLFormElement>("form[data-act]")) {
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
  const { data, message, errors } = await callApi<Link>(api, {
    ...bearer(key),
    method: isChange ? "PATCH" : "DELETE",
    ...(isChange && { body: JSON.stringify(changesIn(form)) }),
  });
  if (data === undefined) refuse(form, errors);
  else await show(new URL(form.action).pathname.replace(/\+manage$/, ""), key, message);
}

function input(form: HTMLFormElement, name: string): HTMLInputElement | null {
  return form.querySelector(`[name=${name}]`);
}

/** The changed fields, as the API expects them. */
function changesIn(form: HTMLFormElement): object {
  const changes: Record<string, unknown> = {};
  const target = input(form, "target");
  if (target && target.value.trim() !== target.defaultValue) changes["target"] = target.value.trim();
  for (const field of form.querySelectorAll<HTMLInputElement>("[data-term]")) {
    const change = changeIn(form, field);
    if (change !== undefined) changes[field.name] = change;
  }
  return changes;
}

/** Throws for a missing date, and then the form is sent. */
function changeIn(form: HTMLFormElement, field: HTMLInputElement): unknown {
  const { name, type, value, checked } = field;
  switch (type) {
    case "radio":
      if (!checked || value === "") return undefined;
      if (value === "date") return new Date(input(form, `${name}_date`)?.value ?? "").toISOString();
      return value === "never" || value === "now" ? null : value;
    case "checkbox":
      return checked === field.defaultChecked ? undefined : checked;
    case "password":
      return value || (input(form, "remove")?.checked ? null : undefined);
    default:
      return value.trim() === field.defaultValue ? undefined : readNumber(value.trim());
  }
}

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
    const hint = isDate ? field.nextElementSibling : field.closest(".field")?.querySelector(":scope > .hint");
    showError(hint, message, id);
    field.ariaInvalid = "true";
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
