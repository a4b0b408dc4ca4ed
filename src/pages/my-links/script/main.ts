import { withoutScheme } from "../../shared/script/short-url.ts";
import { makeItem, part, tell, timeOf } from "./item.ts";
import { addressOf, changeMade, codeOf, keepTold, LIST, type Made, madeHere } from "./saved-links.ts";
import { createAsking } from "./status-requests.ts";

/** The page shows so many links, and as many more on request. */
const AT_ONCE = 50;
/** Answers of the service are kept together, because each write is one of the whole list. */
const KEEP_EVERY_MS = 1000;

/** The page of all links made in this browser. */
function showLinks(main: HTMLElement): void {
  const template = part(main, "item") as HTMLTemplateElement;
  const words = main.dataset;
  const base = words["base"] ?? "";
  const list = part(main, "list");
  const search = part(main, "search") as HTMLInputElement;
  const said = part(main, "said");
  const number = new Intl.NumberFormat(document.documentElement.lang);

  let links = new Map<string, Made>();
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
  part(main, "clear").addEventListener("click", () => remove([...links.values()], "clear", "cleared"));
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

  /** Shows the links that the search finds. */
  function show(): void {
    const wanted = plain(search.value.trim());
    const found = [...links.values()].filter((made) => textOf(made).includes(wanted));
    const focused = document.activeElement as HTMLElement | null;
    list.replaceChildren(...found.slice(0, limit).map(itemOf));
    if (focused?.isConnected && focused !== document.activeElement) focused.focus();
    for (const [path, item] of items) if (!item.isConnected) drop(path, item);
    count(found, wanted !== "");
  }

  function count(found: readonly Made[], isSearch: boolean): void {
    part(main, "empty").hidden = links.size > 0;
    part(main, "tools").hidden = links.size === 0;
    part(main, "none").hidden = found.length > 0 || links.size === 0;
    part(main, "more").hidden = found.length <= limit;
    part(main, "below").hidden = links.size === 0;
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
    part(item, "forget").addEventListener("click", () => remove([made], "remove", "removed"));
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

  function remove(gone: readonly Made[], question: string, confirmation: string): void {
    const [first] = gone;
    const name = first ? withoutScheme(addressOf(codeOf(first), base)) : "";
    if (!confirm(textOfMessage(question, name))) return;
    const item = items.get(first?.path ?? "");
    const next = item?.nextElementSibling ?? item?.previousElementSibling;
    const paths = new Set(gone.map(({ path }) => path));
    if (!changeMade((all) => all.filter(({ path }) => !paths.has(path)))) return say("full");
    readList();
    show();
    // The focused button is gone.
    if (next?.isConnected) part(next as HTMLElement, "forget").focus();
    else (links.size > 0 ? search : part(main, "empty").querySelector("a"))?.focus();
    say(confirmation, name);
  }

  function say(name: string, value?: string): void {
    said.textContent = textOfMessage(name, value);
  }

  function textOfMessage(name: string, value = ""): string {
    return (words[name] ?? "").replace("{value}", () => value);
  }
}

/** Upper and lower case, and the ways to write a letter with its marks, are the same. */
function plain(text: string): string {
  return text.normalize().toLowerCase();
}

const page = document.querySelector<HTMLElement>("[data-my-links]");
if (page) showLinks(page);
