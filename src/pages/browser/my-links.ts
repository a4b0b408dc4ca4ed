import { createAsking } from "./made-asking.ts";
import { merge, readFile, saveFile } from "./made-file.ts";
import { makeItem, part, tell, timeOf } from "./made-item.ts";
import {
  addressOf,
  changeMade,
  codeOf,
  keepTold,
  LIST,
  type Made,
  madeHere,
  MAX_LINKS,
} from "./made-list.ts";
import { withoutScheme } from "./url.ts";

/** The page shows so many links, and as many more on request. */
const AT_ONCE = 50;
/** Answers of the service are kept together, because each write is one of the whole list. */
const KEEP_EVERY_MS = 1000;

/** The page of all links made in this browser. */
function showLinks(main: HTMLElement): void {
  const template = part(main, "item") as HTMLTemplateElement;
  const undoTemplate = part(main, "undone") as HTMLTemplateElement;
  const words = main.dataset;
  const base = words["base"] ?? "";
  const list = part(main, "list");
  const search = part(main, "search") as HTMLInputElement;
  const said = part(main, "said");
  const number = new Intl.NumberFormat(document.documentElement.lang);

  let links = new Map<string, Made>();
  /** What was removed last, until something else is. */
  let removed: readonly Made[] = [];
  let limit = AT_ONCE;
  const items = new Map<string, HTMLElement>();
  const texts = new Map<string, string>();
  const seen = new Set<string>();
  const fresh = new Map<string, Made>();

  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const path = (target as HTMLElement).dataset["path"] ?? "";
      if (isIntersecting) seen.add(path);
      else seen.delete(path);
    }
    asking.look();
  });
  const asking = createAsking({
    // Links of which nothing is known cannot be found by their destination.
    wanted: () => [
      ...[...seen].flatMap((path) => links.get(path) ?? []),
      ...[...links.values()].filter(({ told, target }) => told === undefined && target === undefined),
    ],
    onTold,
    onTrouble: (trouble) => (part(main, "trouble").textContent = trouble ? (words[trouble] ?? "") : ""),
  });

  readList();
  show();
  main.hidden = false;
  // Some browsers do not tell style sheets whether there are scripts.
  document.querySelector(".scriptless")?.remove();
  if (!changeMade((all) => all)) say("blocked");
  search.addEventListener("input", () => {
    limit = AT_ONCE;
    show();
  });
  part(main, "more").addEventListener("click", showMore);
  part(main, "save").addEventListener("click", () => saveFile([...links.values()], base));
  part(main, "choose").addEventListener("click", () => part(main, "load").click());
  part(main, "load").addEventListener("change", () => void load());
  part(main, "clear").addEventListener("click", () => {
    if (confirm(words["clear"])) remove([...links.values()]);
  });
  addEventListener("storage", ({ key }) => {
    if (key !== LIST && key !== null) return;
    readList();
    show();
  });
  addEventListener("pagehide", keepFresh);

  function readList(): void {
    const before = links;
    links = new Map(
      madeHere().map((made) => {
        const { created, target, told } = fresh.get(made.path) ?? {};
        return [made.path, created === made.created ? { ...made, target, told } : made];
      }),
    );
    texts.clear();
    // What is shown may be of an older link, or have no key yet.
    for (const [path, item] of items) {
      const [was, is] = [before.get(path), links.get(path)];
      if (was?.created !== is?.created || was?.key !== is?.key) drop(path, item);
    }
  }

  function onTold(made: Made): void {
    const item = items.get(made.path);
    // It was removed meanwhile.
    if (!links.has(made.path)) return;
    links.set(made.path, made);
    texts.delete(made.path);
    if (item) tell(item, made, words);
    if (fresh.size === 0) setTimeout(keepFresh, KEEP_EVERY_MS);
    fresh.set(made.path, made);
  }

  function keepFresh(): void {
    keepTold([...fresh.values()]);
    fresh.clear();
  }

  /** Shows the links that the search finds, and what was removed in its old place. */
  function show(): void {
    const wanted = plain(search.value.trim());
    const found = [...links.values()].filter((made) => textOf(made).includes(wanted));
    const shown = found.slice(0, limit).map(itemOf);
    const [first] = removed;
    const place = first && found.findIndex(({ created }) => created < first.created);
    if (place !== undefined) shown.splice(place < 0 ? shown.length : place, 0, undoItem());
    const focused = document.activeElement as HTMLElement | null;
    list.replaceChildren(...shown);
    if (focused?.isConnected && focused !== document.activeElement) focused.focus();
    for (const [path, item] of items) if (!item.isConnected) drop(path, item);
    count(found, wanted !== "");
  }

  function count(found: readonly Made[], isSearch: boolean): void {
    part(main, "empty").hidden = links.size > 0 || removed.length > 0;
    part(main, "tools").hidden = links.size === 0;
    part(main, "none").hidden = found.length > 0 || links.size === 0;
    part(main, "more").hidden = found.length <= limit;
    for (const button of main.querySelectorAll<HTMLElement>("[data-hint], [data-save], [data-clear]"))
      button.hidden = links.size === 0;
    const all = number.format(links.size);
    const form =
      new Intl.PluralRules(document.documentElement.lang).select(links.size) === "one" ? "one" : "other";
    part(main, "count").textContent = (words[isSearch ? "found" : form] ?? "")
      .replace("{count}", number.format(isSearch ? found.length : links.size))
      .replace("{all}", all);
    const copy = part(main, "copy");
    copy.hidden = found.length === 0;
    copy.dataset["copy"] = found.map((made) => addressOf(codeOf(made), base)).join("\n");
  }

  function itemOf(made: Made): HTMLElement {
    const known = items.get(made.path);
    if (known) {
      tell(known, made, words);
      return known;
    }
    const item = makeItem(template, made, words);
    item.dataset["path"] = made.path;
    part(item, "created").append(timeOf(made.created));
    part(item, "forget").addEventListener("click", () => remove([links.get(made.path) ?? made]));
    items.set(made.path, item);
    observer.observe(item);
    return item;
  }

  function drop(path: string, item: HTMLElement): void {
    observer.unobserve(item);
    items.delete(path);
    seen.delete(path);
  }

  /** What can be searched of a link. */
  function textOf(made: Made): string {
    const { path, target = "" } = made;
    const text =
      texts.get(path) ?? plain([addressOf(codeOf(made), base), target, withoutScheme(target)].join("\n"));
    texts.set(path, text);
    return text;
  }

  function showMore(): void {
    const next = list.children.length;
    limit += AT_ONCE;
    show();
    list.children[next]?.querySelector("a")?.focus();
  }

  function remove(gone: readonly Made[]): void {
    const paths = new Set(gone.map(({ path }) => path));
    if (!changeMade((all) => all.filter(({ path }) => !paths.has(path)))) return say("full");
    removed = gone;
    readList();
    show();
    part(list, "undo").focus();
    say(gone.length === 1 ? "removed" : "cleared");
  }

  function undoItem(): HTMLElement {
    const item = undoTemplate.content.firstElementChild?.cloneNode(true) as HTMLElement;
    part(item, "what").textContent = textSaid(removed.length === 1 ? "removed" : "cleared", nameOf(removed));
    part(item, "undo").addEventListener("click", undo);
    return item;
  }

  function undo(): void {
    const back = removed;
    if (!changeMade((all) => merge(all, back))) return say("full");
    removed = [];
    readList();
    show();
    const item = items.get(back[0]?.path ?? "");
    (item ? part(item, "forget") : search).focus();
    say("restored");
  }

  async function load(): Promise<void> {
    const input = part(main, "load") as HTMLInputElement;
    const [file] = input.files ?? [];
    if (!file) return;
    const loaded = await readFile(file, base);
    // The same file can be chosen again.
    input.value = "";
    if ("refusal" in loaded) return sayOfFile(loaded.refusal, loaded.value);
    let [before, after] = [0, 0];
    const isKept = changeMade((all) => {
      const merged = merge(all, loaded);
      [before, after] = [all.length, merged.length];
      return after > MAX_LINKS ? all : merged;
    });
    if (!isKept || after > MAX_LINKS) return sayOfFile(isKept ? "fileMany" : "full");
    removed = [];
    readList();
    show();
    sayOfFile("loaded", number.format(after - before));
  }

  /** Screen readers tell it. What can be seen elsewhere is for them alone. */
  function say(name: string): void {
    said.textContent = textSaid(name, nameOf(removed));
    said.classList.toggle("unseen", name !== "full" && name !== "blocked");
  }

  function sayOfFile(name: string, value?: string): void {
    part(main, "file-said").textContent = textSaid(name, value);
    part(main, "file-said").classList.toggle("error", name !== "loaded");
  }

  function textSaid(name: string, value = ""): string {
    return (words[name] ?? "").replace("{value}", () => value);
  }

  function nameOf([first]: readonly Made[]): string {
    return first ? withoutScheme(addressOf(codeOf(first), base)) : "";
  }
}

/** Upper and lower case, and the ways to write a letter with its marks, are the same. */
function plain(text: string): string {
  return text.normalize().toLowerCase();
}

const page = document.querySelector<HTMLElement>("[data-my-links]");
if (page) showLinks(page);
