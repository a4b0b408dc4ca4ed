import { ask } from "./api.ts";
import { withoutScheme } from "./url.ts";

/** A pause in typing. */
const PAUSE_MS = 300;

interface Availability {
  readonly available: boolean;
  readonly short_url: string;
}

/** Tells, while a maker types a code, the address it would make and whether it is free. */
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
      const { status, message, data } = await ask<Availability>(path, signal);
      // A path that ends in . or .. is another one: the form will say.
      if (status >= 500 || status === 404) return tell(hint);
      // A refusal names the parameter, for programs.
      const refused = message.replace(`${input?.name}: `, "");
      if (data === undefined) tell(refused, false);
      else tell(`${withoutScheme(data.short_url)}: ${message}`, data.available);
    } catch {
      // Asked anew by the next letter, or never mind: the form will say.
      if (!signal.aborted) tell(hint);
    }
  }

  function tell(text: string | null, isFree?: boolean): void {
    if (!output) return;
    output.textContent = text;
    output.className = isFree === undefined ? "" : isFree ? "free" : "taken";
  }

  input.addEventListener("input", () => {
    clearTimeout(pause);
    asking.abort();
    const written = input.value.trim();
    if (written === "") tell(hint);
    else pause = window.setTimeout(() => void check(written), PAUSE_MS);
  });
}
