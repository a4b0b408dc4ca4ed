/** How long "Copied" is shown. */
const SAID_MS = 3000;

/** Shows the copy and share buttons and makes them work. Without scripts they stay hidden. */
export function offerCopies(within: ParentNode): void {
  for (const button of within.querySelectorAll<HTMLButtonElement>("button[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", () => void copyFrom(button));
  }
  for (const button of within.querySelectorAll<HTMLButtonElement>("button[data-share]")) {
    button.hidden = !("share" in navigator);
    button.addEventListener("click", () => {
      // Rejects if the reader cancels.
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
  // Those who see it see it on the button.
  said.classList.toggle("unseen", isCopied);
  if (isCopied) sayOn(button, said, done);
  else getSelection()?.selectAllChildren(given ? showIn(said, given) : (source ?? said));
}

export function sayOn(button: HTMLButtonElement, said: Element, done: string): void {
  const marked = `✓ ${done}`;
  const label = button.textContent;
  if (label === marked) return;
  button.textContent = marked;
  setTimeout(() => {
    button.textContent = label;
    if (said.textContent === done) said.replaceChildren();
  }, SAID_MS);
}

/** After a failed copy, shows the whole text to copy by hand. The page shows the address only without its scheme. */
function showIn(said: Element, text: string): Element {
  const shown = document.createElement("bdi");
  shown.dir = "ltr";
  shown.textContent = text;
  said.append(" ", shown);
  return shown;
}

/** The clipboard API needs a secure context (https). Without it, copying a selection still works. */
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
