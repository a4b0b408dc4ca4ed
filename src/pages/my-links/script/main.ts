import { withoutScheme } from "../../shared/script.ts";
import { createItem, part, showStatus } from "./item.ts";
import {
  addressOf,
  loadStatus,
  changeSavedLinks,
  isStale,
  mergeLinks,
  parseLinks,
  saveStatuses,
  LIST,
  type SavedLink,
  savedLinks,
  MINUTE_MS,
} from "./saved-links.ts";

const PAGE_SIZE = 50;
/** Results are stored together, because each write contains the whole list. */
const STORE_EVERY_MS = 1000;
const MAX_CONCURRENT = 4;
/** Half of the default limit per client, so that the reader can use other pages. */
const PER_MINUTE = 60;
const CHECK_EVERY_MS = 15_000;

function showLinks(main: HTMLElement): void {
  const template = part(main, "item") as HTMLTemplateElement;
  const words = main.dataset;
  const base = words["base"] ?? "";
  const list = part(main, "list");
  const search = part(main, "search") as HTMLInputElement;
  const number = new Intl.NumberFormat(document.documentElement.lang);

  let links = new Map<string, SavedLink>();
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
  // Some browsers don't support the `scripting` media feature.
  document.querySelector(".scriptless")?.remove();
  if (!changeSavedLinks((all) => all)) say("blocked");
  search.addEventListener("input", () => {
    limit = PAGE_SIZE;
    show();
  });
  part(main, "more").addEventListener("click", showMore);
  part(main, "clear").addEventListener("click", () => remove([...links.values()], "clear", "cleared"));
  part(main, "save").addEventListener("click", () => saveFile([...links.values()]));
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
    links = new Map(
      savedLinks().map((saved) => {
        const { created, target, status } = fresh.get(saved.path) ?? {};
        return [saved.path, created === saved.created ? { ...saved, target, status } : saved];
      }),
    );
    texts.clear();
    // The item may show an older link, or lack the key.
    for (const [path, item] of items) {
      const [was, is] = [before.get(path), links.get(path)];
      if (was?.created !== is?.created || was?.key !== is?.key) drop(path, item);
    }
  }

  function onStatus({ path, created, target, status }: SavedLink): void {
    const item = items.get(path);
    const known = links.get(path);
    // It was removed or replaced in the meantime.
    if (known?.created !== created) return;
    const saved = { ...known, target, status };
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
    part(item, "forget").addEventListener("click", () => remove([saved], "remove", "removed"));
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
    const { path, target = "" } = saved;
    const text = texts.get(path) ?? plain([addressOf(saved, base), target, withoutScheme(target)].join("\n"));
    texts.set(path, text);
    return text;
  }

  function showMore(): void {
    const next = list.children.length;
    limit += PAGE_SIZE;
    show();
    list.children[next]?.querySelector("a")?.focus();
  }

  function remove(gone: readonly SavedLink[], question: string, confirmation: string): void {
    const [first] = gone;
    const name = first ? withoutScheme(addressOf(first, base)) : "";
    if (!confirm(textOfMessage(question, name))) return;
    const item = items.get(first?.path ?? "");
    const next = item?.nextElementSibling ?? item?.previousElementSibling;
    const paths = new Set(gone.map(({ path }) => path));
    if (!changeSavedLinks((all) => all.filter(({ path }) => !paths.has(path)))) return say("full");
    readList();
    show();
    // The focused button is gone.
    if (next?.isConnected) part(next as HTMLElement, "forget").focus();
    else (links.size > 0 ? search : part(main, "empty").querySelector("a"))?.focus();
    say(confirmation, name);
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

  function say(name: string, value?: string): void {
    part(main, "said").textContent = textOfMessage(name, value);
  }

  function textOfMessage(name: string, value = ""): string {
    return (words[name] ?? "").replace("{value}", () => value);
  }
}

/** The file has what the browser stores, without the visits. */
function saveFile(links: readonly SavedLink[]): void {
  const list = links.map(({ path, created, key, target }) => ({ path, created, key, target }));
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

interface StatusRequestsOptions {
  /** Visible links come first. */
  readonly candidates: () => readonly SavedLink[];
  readonly onStatus: (saved: SavedLink) => void;
  /** Called when the reason for missing results changes; undefined if there is none. */
  readonly onTrouble: (trouble: "limited" | "away" | undefined) => void;
}

/** Loads the status of links, a few at a time, within the service's limits. */
function createStatusRequests({ candidates, onStatus, onTrouble }: StatusRequestsOptions) {
  const inFlight = new Set<string>();
  /** Links without a response come after the others, because a firewall may refuse some addresses. */
  const failed = new Set<string>();
  const requestTimes: number[] = [];
  let pausedUntil = 0;

  function mayRequest(): boolean {
    const now = performance.now();
    while ((requestTimes[0] ?? now) < now - MINUTE_MS) requestTimes.shift();
    return (
      inFlight.size < MAX_CONCURRENT &&
      requestTimes.length < PER_MINUTE &&
      now >= pausedUntil &&
      document.visibilityState === "visible"
    );
  }

  function check(): void {
    while (mayRequest()) {
      const stale = candidates().filter((one) => isStale(one) && !inFlight.has(one.path));
      const saved = stale.find(({ path }) => !failed.has(path)) ?? stale[0];
      if (saved === undefined) return;
      void request(saved);
    }
  }

  async function request(saved: SavedLink): Promise<void> {
    inFlight.add(saved.path);
    requestTimes.push(performance.now());
    const answer = await loadStatus(saved);
    inFlight.delete(saved.path);
    if ("status" in answer) {
      failed.delete(saved.path);
      onStatus({ ...saved, ...answer });
      if (performance.now() >= pausedUntil) onTrouble(undefined);
    } else {
      failed.add(saved.path);
      pausedUntil = performance.now() + answer.waitMs;
      setTimeout(check, answer.waitMs);
      onTrouble(answer.isLimited ? "limited" : "away");
    }
    check();
  }

  function resume(): void {
    pausedUntil = 0;
    check();
  }
  addEventListener("online", resume);
  document.addEventListener("visibilitychange", check);
  setInterval(check, CHECK_EVERY_MS);
  return { check };
}

const page = document.querySelector<HTMLElement>("[data-my-links]");
if (page) showLinks(page);
