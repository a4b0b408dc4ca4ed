/** A form that is on its way is not sent again by a second click: its code would be taken, by itself. */
export function sendOnce(): void {
  const form = document.querySelector<HTMLFormElement>("form[data-make]");
  let isSent = false;
  form?.addEventListener("submit", (event) => {
    if (isSent) event.preventDefault();
    isSent = true;
  });
  // Back again, from the browser's memory.
  addEventListener("pageshow", () => (isSent = false));
}
