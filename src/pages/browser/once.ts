/** A second click comes sooner; who has waited for so long may try again. */
const ON_ITS_WAY_MS = 3000;

/** A form that is on its way is not sent again by a second click: its code would be taken, by itself. */
export function sendOnce(): void {
  let sentMs = -ON_ITS_WAY_MS;
  document.querySelector("form[data-make]")?.addEventListener("submit", (event) => {
    const nowMs = performance.now();
    if (nowMs - sentMs < ON_ITS_WAY_MS) event.preventDefault();
    else sentMs = nowMs;
  });
  // Back again, from the browser's memory.
  addEventListener("pageshow", () => (sentMs = -ON_ITS_WAY_MS));
}
