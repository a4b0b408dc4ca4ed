/** Removes the error message of a field once the reader changes the field. */
export function forgetRefusals(): void {
  for (const input of document.querySelectorAll<HTMLInputElement>("input[aria-invalid]")) {
    input.addEventListener(
      "input",
      () => {
        input.ariaInvalid = null;
        input.closest(".field")?.querySelector(".refusal")?.remove();
      },
      { once: true },
    );
  }
}
