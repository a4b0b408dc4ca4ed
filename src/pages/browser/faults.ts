/** What was wrong with a field is no longer said once it is changed. */
export function forgiveFaults(): void {
  for (const input of document.querySelectorAll<HTMLInputElement>("input[aria-invalid]")) {
    input.addEventListener(
      "input",
      () => {
        input.ariaInvalid = null;
        input.closest(".field")?.querySelector(".fault")?.remove();
      },
      { once: true },
    );
  }
}
