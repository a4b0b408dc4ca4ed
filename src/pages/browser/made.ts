/**
 * The hash that says "your link is ready" is for its maker only, and people share what the address bar shows. Without
 * scripts it stays. What it points to stays in sight, because `:target` does not follow `replaceState`.
 */
export function hideMadeHash(): void {
  if (location.hash !== "#made") return;
  // Not before the browser has acted on the hash.
  addEventListener("load", () => history.replaceState(null, "", location.pathname + location.search));
}
