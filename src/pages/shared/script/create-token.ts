import { read, write } from "./storage.ts";

/** The key in local storage of the token with which this browser makes links. */
const TOKEN = "curt.token";

/** Asks for the token once: a remembered one fills the field, which is shown again only if the token was refused. */
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
