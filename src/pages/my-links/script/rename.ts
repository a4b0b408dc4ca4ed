import { bearer, callApi, type Link } from "../../shared/script.ts";
import { part } from "./item.ts";
import type { SavedLink } from "./saved-links.ts";

/** In characters, as the service allows. */
const MAX_LENGTH = 200;

interface RenameOptions {
  readonly onStatus: (saved: SavedLink) => void;
  readonly say: (text: string) => void;
}

/** Asks for the link's title in its place. Enter saves, Escape cancels, and the focus returns. */
export function rename(
  item: HTMLElement,
  saved: SavedLink,
  words: DOMStringMap,
  options: RenameOptions,
): void {
  const link = part(item, "address");
  const form = Object.assign(document.createElement("form"), { className: "rename" });
  const input = Object.assign(document.createElement("input"), {
    value: saved.title ?? "",
    maxLength: MAX_LENGTH,
  });
  input.ariaLabel = part(item, "rename").textContent;
  const button = Object.assign(document.createElement("button"), { className: "primary" });
  button.textContent = words["save"] ?? "";
  form.append(input, button);
  const close = () => {
    form.remove();
    link.hidden = false;
    link.focus();
  };
  form.addEventListener("keydown", ({ key }) => {
    if (key === "Escape") close();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(saved, input.value.trim(), options).then(close, () => options.say(words["away"] ?? ""));
  });
  // Its texts may change meanwhile.
  link.hidden = true;
  link.before(form);
  input.select();
}

async function send(saved: SavedLink, title: string, { onStatus, say }: RenameOptions): Promise<void> {
  const { data, message } = await callApi<Link>(saved.path, {
    method: "PATCH",
    ...(saved.key !== undefined && bearer(saved.key)),
    body: JSON.stringify({ title: title || null }),
  });
  if (data === undefined) say(message);
  else onStatus({ ...saved, title: title || undefined });
}
