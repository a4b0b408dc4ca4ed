import { ask } from "./api.ts";
import { withoutScheme } from "./url.ts";

/** Ask once the reader has not typed for this long. */
const PAUSE_MS = 300;

interface Availability {
  readonly available: boolean;
  readonly short_url: string;
}

/** While a code is typed, shows the short address it would give and whether it is free. */
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
      if (status >= 500 || status === 404 || status === 429) return tell(hint);
      // Remove the name of the parameter, which is for programs.
      const refused = message.replace(`${input?.name}: `, "");
      if (data === undefined) tell(refused, false);
      else tell(`${withoutScheme(data.short_url)}: ${message}`, data.available);
    } catch {
      // Aborted requests are replaced by the next one. Other failures do not matter: the form checks the code again.
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
