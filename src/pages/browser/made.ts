/**
 * Removes #made from the address bar, because people share that address, and "your link is ready" is not for others.
 * The message stays visible: `:target` does not change with `replaceState`.
 */
export function hideMadeHash(): void {
  if (location.hash !== "#made") return;
  // Wait until the browser has scrolled to the target and set `:target`.
  addEventListener("load", () => history.replaceState(null, "", location.pathname + location.search));
}
