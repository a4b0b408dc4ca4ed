/** How long a copy is said to be made. */
const SAID_MS = 3000;

/** Shows the buttons that copy and share, which are hidden where no script can make them work. */
export function offerCopies(within: ParentNode): void {
  for (const button of within.querySelectorAll<HTMLButtonElement>("button[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", () => void copyFrom(button));
  }
  for (const button of within.querySelectorAll<HTMLButtonElement>("button[data-share]")) {
    button.hidden = !("share" in navigator);
    button.addEventListener("click", () => {
      // It rejects where the reader thinks better of it.
      navigator.share({ url: button.dataset["share"] ?? "" }).catch(() => {});
    });
  }
}

async function copyFrom(button: HTMLButtonElement): Promise<void> {
  const { done = "" } = button.dataset;
  const text = button.dataset["copy"] || (button.previousElementSibling?.textContent ?? "");
  const said = button.parentElement?.querySelector("output");
  if (!(await copy(text)) || !said) return;
  said.textContent = done;
  setTimeout(() => said.replaceChildren(), SAID_MS);
}

/** Without a secure context there is no clipboard, but the selection can still be copied. */
async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text);
  }
}

function copySelected(text: string): boolean {
  const before = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "skip";
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  if (before instanceof HTMLElement) before.focus();
  return isCopied;
}
