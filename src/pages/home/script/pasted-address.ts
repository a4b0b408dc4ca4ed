import { readPasted } from "../../shared/pasted-address.ts";

/** Takes the address out of a text that is pasted, and says so. Without scripts, the service does it. */
export function takeAddresses(): void {
  const input = document.querySelector<HTMLInputElement>("form[data-make] [name=original_url]");
  const said = document.querySelector<HTMLElement>("[data-understood]");
  if (!input || !said) return;
  input.addEventListener("paste", (event) => {
    const text = event.clipboardData?.getData("text").trim() ?? "";
    const { address } = readPasted(text);
    const isAll = input.selectionStart === 0 && input.selectionEnd === input.value.length;
    if (address === undefined || address === text || !isAll) return;
    event.preventDefault();
    input.value = address;
    input.dispatchEvent(new Event("input", { bubbles: true }));
    said.hidden = false;
  });
  input.addEventListener("input", () => (said.hidden = true));
}
