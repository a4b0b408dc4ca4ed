/**
 * Whoever has just made a link wants to copy it, so that button gets the focus, and says that the link is ready. Then removes
 * #made from the address bar, because people share that address, and "your link is ready" is not for others. The message
 * stays visible: `:target` does not change with `replaceState`.
 */
export function welcomeMaker(): void {
  if (location.hash !== "#made") return;
  // Wait until the browser has scrolled to the target, focused it and set `:target`.
  addEventListener("load", () => {
    history.replaceState(null, "", location.pathname + location.search);
    const copy = document.querySelector<HTMLElement>("main [data-copy]");
    copy?.setAttribute("aria-describedby", "made");
    copy?.focus({ preventScroll: true });
  });
}
