/** Takes back what was wrong with a field once it is changed. */
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
