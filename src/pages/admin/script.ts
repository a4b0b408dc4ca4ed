import { regionalLanguage } from "../shared/script.ts";

/** Keys on the operator's pages: elements name theirs. */
export function answerByKeys(): void {
  const page = document.querySelector(".admin");
  if (page === null) return;
  const all = page.querySelector<HTMLInputElement>("[data-all]");
  all?.addEventListener("change", () => {
    for (const box of page.querySelectorAll<HTMLInputElement>(".cells input:enabled"))
      box.checked = all.checked;
  });
  document.addEventListener("keydown", (event) => {
    const { repeat, ctrlKey, metaKey, altKey, isComposing, target } = event;
    const isTyped =
      target instanceof Element && target.matches("input:not([type=checkbox]), select, textarea");
    // A key that is held down must not decide about one case after the other.
    if (isTyped || repeat || ctrlKey || metaKey || altKey || isComposing) return;
    const key = keyOf(event);
    const element =
      (event.shiftKey && find(`Shift+${key.toUpperCase()}`)) || find(key === "escape" ? "Escape" : key);
    // Escape also closes what is open.
    if (!element || (key === "escape" && document.querySelector(":popover-open") !== null)) return;
    // The key must not be typed into the field that it opens.
    event.preventDefault();
    element.focus();
    element.click();
  });
}

/** Groups the journal by the reader's days. Without scripts, days are in UTC. */
export function groupByDays(): void {
  const days = document.querySelector("[data-days]");
  if (days === null) return;
  const date = new Intl.DateTimeFormat(regionalLanguage(), { dateStyle: "full" });
  const clock = new Intl.DateTimeFormat(regionalLanguage(), { timeStyle: "short" });
  const entries = Map.groupBy(days.querySelectorAll("li"), (entry) => {
    const time = entry.querySelector("time") as HTMLTimeElement;
    const at = Date.parse(time.dateTime);
    time.textContent = clock.format(at);
    return date.format(at);
  });
  days.replaceChildren();
  for (const [day, ofDay] of entries) {
    const [heading, list] = [document.createElement("h2"), document.createElement("ul")];
    heading.textContent = day;
    list.className = "entries";
    list.append(...ofDay);
    days.append(heading, list);
  }
}

/** The visible element with a key: that of a closed menu doesn't count. */
function find(key: string): HTMLElement | undefined {
  const all = document.querySelectorAll<HTMLElement>(`[aria-keyshortcuts="${CSS.escape(key)}"]`);
  return [...all].find((one) => one.checkVisibility());
}

/** The sign on a key, or the letter at its place on a Latin keyboard if the layout or an input method has no Latin letters. */
function keyOf({ key, code, shiftKey }: KeyboardEvent): string {
  if (key === "Escape" || /^[!-~]$/.test(key)) return key.toLowerCase();
  if (code === "Slash") return shiftKey ? "?" : "/";
  return code.replace(/^Key|^Digit/, "").toLowerCase();
}
