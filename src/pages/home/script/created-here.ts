import { makeItem, tell } from "../../my-links/script/item.ts";
import { askAbout } from "../../my-links/script/link-status.ts";
import { changeMade, keepTold, madeHere } from "../../my-links/script/saved-links.ts";
import { read, write } from "../../shared/script/storage.ts";

/** The key in session storage that says: this tab has sent the form, so the next preview is of a link made here. */
const SENT = "curt.sent";
/** So many of the latest links are on the home page. */
const SHOWN = 3;

/** Adds a link to the list if it was made with the form in this browser. */
export function rememberMade(): void {
  const form = document.querySelector("form[data-make]");
  // The form is shown again, so anything sent before has been refused or is already in the list.
  if (form) write("sessionStorage", SENT, null);
  form?.addEventListener("submit", () => write("sessionStorage", SENT, "1"));
  const { link: path, created } = document.querySelector<HTMLElement>("[data-created]")?.dataset ?? {};
  if (location.hash !== "#made" || path === undefined || created === undefined) return;
  if (read("sessionStorage", SENT) === null) return;
  write("sessionStorage", SENT, null);
  const shown = document.querySelector<HTMLElement>("[data-key]");
  const key = shown?.dataset["key"];
  const isKept = changeMade((list) => [{ path, created, key }, ...list.filter((made) => made.path !== path)]);
  if (isKept) shown?.querySelector("[data-kept]")?.removeAttribute("data-kept");
}

/** Shows the latest links made in this browser, with their current visits and expiry from the API. */
export function showMadeHere(): void {
  const section = document.querySelector<HTMLElement>(".made-here");
  const template = section?.querySelector("template");
  if (!section || !template) return;
  const words = section.dataset;
  const all = madeHere();
  const told = all.slice(0, SHOWN).map(async (made) => {
    const item = makeItem(template, made, words);
    section.querySelector("ul")?.append(item);
    const answer = await askAbout(made);
    if (!("told" in answer)) return [];
    const now = { ...made, ...answer };
    tell(item, now, words);
    return [now];
  });
  const more = section.querySelector("[data-all]");
  if (more && all.length > SHOWN)
    more.textContent = (words["all"] ?? "").replace("{count}", String(all.length));
  void settle();

  /** Shows the list only once every request has finished, so that nothing moves while it is visible. */
  async function settle(): Promise<void> {
    const links = await Promise.all(told);
    if (section) section.hidden = all.length === 0;
    keepTold(links.flat());
  }
}
