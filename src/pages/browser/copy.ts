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
  const { copy: given, done = "", failed = "" } = button.dataset;
  const source = button.previousElementSibling;
  const text = given || (source?.textContent ?? "");
  const said = button.parentElement?.querySelector("output");
  const isCopied = await copy(text);
  if (!said) return;
  said.textContent = isCopied ? done : failed;
  if (isCopied) setTimeout(() => said.textContent === done && said.replaceChildren(), SAID_MS);
  else getSelection()?.selectAllChildren(given ? showIn(said, given) : (source ?? said));
}

/** The heading has the address without its scheme, so what would have been copied is shown in full. */
function showIn(said: Element, text: string): Element {
  const shown = document.createElement("bdi");
  shown.dir = "ltr";
  shown.textContent = text;
  said.append(" ", shown);
  return shown;
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
