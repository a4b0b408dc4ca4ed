/** Dates in the form are in the reader's time zone. Without scripts, they are in UTC, as the form says. */
export function tellZone(): void {
  const input = document.querySelector<HTMLInputElement>("form[data-make] [name=zone]");
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  // Dates that were sent before are in the zone that was sent with them.
  if (!input || input.value !== "") return;
  input.value = timeZone;
  for (const shown of document.querySelectorAll("[data-zone]")) shown.textContent = timeZone;
}
