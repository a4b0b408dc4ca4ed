/** Dates in forms are in the reader's own time zone. Without scripts, they are in UTC, as the forms say. */
export function tellZone(within: ParentNode): void {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  for (const form of within.querySelectorAll("form")) {
    const input = form.querySelector<HTMLInputElement>("[name=zone]");
    // Dates that were sent before are in the zone that was sent with them.
    if (!input || input.value !== "") continue;
    input.value = timeZone;
    for (const shown of form.querySelectorAll("[data-zone]")) shown.textContent = timeZone;
    for (const date of form.querySelectorAll<HTMLInputElement>("[data-instant]"))
      date.value = localDate(new Date(date.dataset["instant"] ?? ""));
  }
}

/** As `datetime-local` has it. */
function localDate(date: Date): string {
  const shifted = date.getTime() - date.getTimezoneOffset() * 60_000;
  return new Date(shifted).toISOString().slice(0, "2026-01-01T00:00".length);
}
