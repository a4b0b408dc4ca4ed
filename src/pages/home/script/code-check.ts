import { ask } from "../../shared/script/api-call.ts";
import { withoutScheme } from "../../shared/script/short-url.ts";

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
      if (status >= 500 || status === 404 || status === 429) return tell("", hint);
      // Remove the name of the parameter, which is for programs.
      if (data === undefined) return tell("taken", message.replace(`${input?.name}: `, ""));
      const told = `${withoutScheme(data.short_url)}: ${message}`;
      if (data.available) tell("free", told);
      else tell("taken", `${told} `, ...othersThan(data));
    } catch {
      // Aborted requests are replaced by the next one. Other failures do not matter: the form checks the code again.
      if (!signal.aborted) tell("", hint);
    }
  }

  /** All at once, so that screen readers tell it as one. */
  function tell(kind: "" | "free" | "taken", ...parts: readonly (Node | string | null)[]): void {
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
    if (written === "") tell("", hint);
    else pause = window.setTimeout(() => void check(written), PAUSE_MS);
  });
}
