/** Keys on the operator's cases: j and k move between them, and a case has one key per decision. */
export function answerByKeys(): void {
  const cases = [...document.querySelectorAll<HTMLElement>(".case")];
  if (cases.length === 0) return;
  document.addEventListener("keydown", ({ key, repeat, ctrlKey, metaKey, altKey, target }) => {
    const isTyped = target instanceof Element && target.matches("input, select, textarea");
    // A key that is held down must not decide about one case after the other.
    if (isTyped || repeat || ctrlKey || metaKey || altKey) return;
    const current = document.activeElement?.closest<HTMLElement>(".case") ?? undefined;
    const at = current === undefined ? -1 : cases.indexOf(current);
    if (key === "j") (cases[at + 1] ?? current)?.focus();
    else if (key === "k") cases[Math.max(0, at - 1)]?.focus();
    else current?.querySelector<HTMLElement>(`[aria-keyshortcuts="${CSS.escape(key)}"]`)?.click();
  });
}
