import { withoutScheme } from "../../shared/script.ts";
import { createItem, groupOf, part, showStatus } from "./item.ts";
import { loadOwnLinks, withOwn } from "./own-links.ts";
import { rename } from "./rename.ts";
import {
  addressOf,
  changeSavedLinks,
  mergeLinks,
  parseLinks,
  saveStatuses,
  LIST,
  type SavedLink,
  savedLinks,
} from "./saved-links.ts";
import { createStatusRequests } from "./status-requests.ts";

const PAGE_SIZE = 50;
/** Results are stored together, because each write contains the whole list. */
const STORE_EVERY_MS = 1000;

function showLinks(main: HTMLElement): void {
  const template = part(main, "item") as HTMLTemplateElement;
  const words = main.dataset;
  const base = words["base"] ?? "";
  const list = part(main, "list");
  const search = part(main, "search") as HTMLInputElement;
  const number = new Intl.NumberFormat(document.documentElement.lang);

  let links = new Map<string, SavedLink>();
  let removed: SavedLink[] = [];
  const own: SavedLink[] = [];
  let undo: (() => void) | undefined;
  let limit = PAGE_SIZE;
  const items = new Map<string, HTMLElement>();
  const texts = new Map<string, string>();
  const seen = new Set<string>();
  const fresh = new Map<string, SavedLink>();

  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const path = (target as HTMLElement).dataset["path"] ?? "";
      if (isIntersecting) seen.add(path);
      else seen.delete(path);
    }
    requests.check();
  });
  const requests = createStatusRequests({
    // Links without a status can't be found by their destination.
    candidates: () => [
      ...[...seen].flatMap((path) => links.get(path) ?? []),
      ...[...links.values()].filter(({ status, target }) => status === undefined && target === undefined),
    ],
    onStatus,
    onTrouble: (trouble) => (part(main, "trouble").textContent = trouble ? (words[trouble] ?? "") : ""),
  });

  readList();
  show();
  main.hidden = false;
  if (main.dataset["own"] === "true") void readOwn();
  // Some browsers don't support the `scripting` media feature.
  document.querySelector(".scriptless")?.remove();
  if (!changeSavedLinks((all) => all)) say("blocked");
  search.addEventListener("input", () => {
    limit = PAGE_SIZE;
    show();
  });
  part(main, "dismiss").addEventListener("click", () => say(""));
  part(main, "more").addEventListener("click", showMore);
  part(main, "undo").addEventListener("click", () => undo?.());
  part(main, "clear").addEventListener("click", () => remove(new Set(links.keys()), "cleared", ""));
  part(main, "save").addEventListener("click", () => saveFile([...links.values(), ...removed]));
  const file = part(main, "file") as HTMLInputElement;
  part(main, "load").addEventListener("click", () => file.click());
  file.addEventListener("change", () => void loadFile());
  addEventListener("storage", ({ key }) => {
    if (key !== LIST && key !== null) return;
    readList();
    show();
  });
  addEventListener("pagehide", storeFresh);

  function readList(): void {
    const before = links;
    const all = withOwn(savedLinks(), own);
    removed = all.filter((saved) => saved.removed === true);
    links = new Map(
      all
        .filter((saved) => saved.removed !== true)
        .map((saved) => {
          const { created, target, status } = fresh.get(saved.path) ?? {};
          return [saved.path, created === saved.created ? { ...saved, target, status } : saved];
        }),
    );
    texts.clear();
    // The item may show an older link, or lack the key.
    for (const [path, item] of items) {
      const [was, is] = [before.get(path), links.get(path)];
      if (is === undefined || was?.created !== is.created || was.key !== is.key) drop(path, item);
    }
  }

  async function readOwn(): Promise<void> {
    for await (const page of loadOwnLinks()) {
      own.push(...page);
      readList();
      show();
    }
  }

  function onStatus({ path, created, key, target, title, status }: SavedLink): void {
    const item = items.get(path);
    const known = links.get(path);
    // It was removed or replaced in the meantime.
    if (known?.created !== created) return;
    const saved = { ...known, key, target, title, status };
    links.set(path, saved);
    texts.delete(saved.path);
    if (item) showStatus(item, saved, words);
    if (fresh.size === 0) setTimeout(storeFresh, STORE_EVERY_MS);
    fresh.set(saved.path, saved);
  }

  function storeFresh(): void {
    saveStatuses([...fresh.values()]);
    fresh.clear();
  }

  function show(): void {
    const query = plain(search.value.trim());
    const matches = [...links.values()].filter((saved) => textOf(saved).includes(query));
    const focused = document.activeElement as HTMLElement | null;
    list.replaceChildren(...matches.slice(0, limit).map(itemOf));
    let group = "";
    for (const item of list.children) {
      const name = groupOf(item.querySelector<HTMLTimeElement>("[data-made]")?.dateTime ?? "");
      item.toggleAttribute("data-group", name !== group);
      if (name !== group) item.setAttribute("data-group", name);
      group = name;
    }
    part(main, "removed-list").replaceChildren(...removed.map(itemOf));
    part(main, "gone").hidden = removed.length === 0;
    part(main, "removed").textContent = number.format(removed.length);
    if (focused?.isConnected && focused !== document.activeElement) focused.focus();
    for (const [path, item] of items) if (!item.isConnected) drop(path, item);
    count(matches, query !== "");
  }

  function count(matches: readonly SavedLink[], isSearch: boolean): void {
    part(main, "empty").hidden = links.size > 0;
    part(main, "tools").hidden = links.size === 0;
    part(main, "none").hidden = matches.length > 0 || links.size === 0;
    part(main, "more").hidden = matches.length <= limit;
    for (const name of ["below", "save", "clear"]) part(main, name).hidden = links.size === 0;
    const form =
      new Intl.PluralRules(document.documentElement.lang).select(links.size) === "one" ? "one" : "other";
    part(main, "count").textContent = (words[isSearch ? "found" : form] ?? "")
      .replace("{count}", number.format(isSearch ? matches.length : links.size))
      .replace("{all}", number.format(links.size));
    const copy = part(main, "copy");
    copy.hidden = matches.length === 0;
    copy.dataset["copy"] = matches.map((saved) => addressOf(saved, base)).join("\n");
  }

  function itemOf(saved: SavedLink): HTMLElement {
    const present = items.get(saved.path);
    if (present) {
      showStatus(present, saved, words);
      return present;
    }
    const item = createItem(template, saved, words);
    item.dataset["path"] = saved.path;
    takeMenu(item, saved);
    items.set(saved.path, item);
    observer.observe(item);
    return item;
  }

  function drop(path: string, item: HTMLElement): void {
    observer.unobserve(item);
    items.delete(path);
    seen.delete(path);
  }

  function textOf(saved: SavedLink): string {
    const { path, target = "", title = "" } = saved;
    const text =
      texts.get(path) ?? plain([addressOf(saved, base), title, target, withoutScheme(target)].join("\n"));
    texts.set(path, text);
    return text;
  }

  function showMore(): void {
    const next = list.children.length;
    limit += PAGE_SIZE;
    show();
    list.children[next]?.querySelector("a")?.focus();
  }

  /** Changes the stored links, and moves the focus if its button is gone. */
  function change(paths: ReadonlySet<string>, to: (saved: SavedLink) => SavedLink | undefined): boolean {
    const item = items.get([...paths][0] ?? "");
    const next = item?.nextElementSibling ?? item?.previousElementSibling;
    const isStored = changeSavedLinks((all) =>
      all.flatMap((saved) => (paths.has(saved.path) ? (to(saved) ?? []) : saved)),
    );
    if (!isStored) {
      say("full");
      return false;
    }
    readList();
    show();
    const other = next?.isConnected ? next.querySelector("a") : links.size > 0 ? search : undefined;
    (other ?? document.querySelector<HTMLElement>("h1 + a"))?.focus();
    return true;
  }

  /** The keys stay, so it needs no question. */
  function remove(paths: ReadonlySet<string>, confirmation: string, name: string): void {
    if (!change(paths, (saved) => ({ ...saved, removed: true }))) return;
    say(confirmation, name, () => restore(paths));
  }

  function restore(paths: ReadonlySet<string>): void {
    if (change(paths, (saved) => ({ ...saved, removed: undefined }))) say("");
  }

  function takeMenu(item: HTMLElement, { path }: SavedLink): void {
    const paths = new Set([path]);
    const name = part(item, "address").title;
    const on = (button: string, act: () => void) =>
      item.querySelector(`[data-${button}]`)?.addEventListener("click", act);
    on("forget", () => remove(paths, "removed", name));
    on("restore", () => restore(paths));
    on("delete", () => {
      if (confirm(textOfMessage("remove", name)) && change(paths, () => undefined)) say("deleted", name);
    });
    on("rename", () => {
      const saved = links.get(path);
      if (saved) rename(item, saved, words, { onStatus, say: toast });
    });
  }

  async function loadFile(): Promise<void> {
    const loaded = parseLinks((await file.files?.[0]?.text()) ?? "");
    // The same file may be chosen again.
    file.value = "";
    if (loaded.length === 0) return say("unreadable");
    const before = links.size;
    // Which links are gone.
    storeFresh();
    if (!changeSavedLinks((all) => mergeLinks(all, loaded))) return say("full");
    readList();
    show();
    say("loaded", number.format(links.size - before));
  }

  function say(name: string, value?: string, undoing?: () => void): void {
    toast(textOfMessage(name, value), undoing);
  }

  function toast(text: string, undoing?: () => void): void {
    undo = undoing;
    part(main, "undo").hidden = undoing === undefined;
    part(main, "said").textContent = text;
  }

  function textOfMessage(name: string, value = ""): string {
    return (words[name] ?? "").replace("{value}", () => value);
  }
}

/** The file has what the browser stores, without the visits. */
function saveFile(links: readonly SavedLink[]): void {
  const list = links.map((saved) => ({ ...saved, status: undefined, isOwn: undefined }));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([JSON.stringify(list, null, 2)], { type: "application/json" }));
  link.download = `${location.hostname}-links.json`;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** Ignores upper and lower case, and how marks are encoded. */
function plain(text: string): string {
  return text.normalize().toLowerCase();
}

const page = document.querySelector<HTMLElement>("[data-my-links]");
if (page) showLinks(page);
