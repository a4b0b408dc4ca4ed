/** A double click is faster than this. If there is no answer for so long, the reader may try again. */
const ON_ITS_WAY_MS = 3000;

/** Keeps a double click from sending the form twice. The second request would fail, because the first took the code. */
export function sendOnce(): void {
  let sentMs = -ON_ITS_WAY_MS;
  document.querySelector("form[data-make]")?.addEventListener("submit", (event) => {
    const nowMs = performance.now();
    if (nowMs - sentMs < ON_ITS_WAY_MS) event.preventDefault();
    else sentMs = nowMs;
  });
  // The reader may have come back to this page from the browser's back/forward cache.
  addEventListener("pageshow", () => (sentMs = -ON_ITS_WAY_MS));
}
