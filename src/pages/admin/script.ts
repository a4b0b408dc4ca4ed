/** Keys on the operator's pages: j and k move between cases, a case has one key per decision, and elements name their others. */
export function answerByKeys(): void {
  const desk = document.querySelector(".admin");
  if (desk === null) return;
  const cases = [...desk.querySelectorAll<HTMLElement>(".case")];
  document.addEventListener("keydown", (event) => {
    const { key, repeat, ctrlKey, metaKey, altKey, target } = event;
    const isTyped = target instanceof Element && target.matches("input, select, textarea");
    // A key that is held down must not decide about one case after the other.
    if (isTyped || repeat || ctrlKey || metaKey || altKey) return;
    const current = document.activeElement?.closest<HTMLElement>(".case") ?? undefined;
    const at = current === undefined ? -1 : cases.indexOf(current);
    if (key === "j") (cases[at + 1] ?? current)?.focus();
    else if (key === "k") cases[Math.max(0, at - 1)]?.focus();
    else {
      const own = [...desk.querySelectorAll<HTMLElement>(`[aria-keyshortcuts="${CSS.escape(key)}"]`)];
      const element = own.find((one) => (one.closest(".case") ?? current) === current);
      if (element === undefined) return;
      // The key must not be typed into the field that it opens.
      event.preventDefault();
      element.focus();
      element.click();
    }
  });
}
