import { ask, type Link } from "../../shared/script/api-call.ts";
import { readCharts } from "./chart-values.ts";

const EVERY_MS = 2000;
/** Between two looks at a link that nobody visits. */
const SLOWEST_MS = 30_000;
/** Between two readings of the whole page, which cost the service more than a count. */
const REFRESH_EVERY_MS = 5000;
/** What chooses a range in an address. */
const CHOICES = ["range", "by"];

/**
 * Keeps the visits of a preview up to date, in the reader's own time zone, while somebody looks. The count is asked
 * for, less and less often while it stands still; after it has moved, the page is read anew, and its fresh parts are
 * taken over. Another range is read in the same way, and is in the address, so that the back button leads to the one before.
 */
export function watchVisits(): void {
  const visits = document.querySelector<HTMLElement>("#visits");
  if (!visits) return;
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const count = visits.querySelector("[role=status]");
  const number = new Intl.NumberFormat(document.documentElement.lang);
  let waitMs = EVERY_MS;
  /** While many look at this link, the service asks each of them to wait longer. */
  let askedForMs = 0;
  let shown = location.search;
  /** Of the page as it was read last. */
  let tag: string | undefined;
  let reading = 0;
  let refreshedMs = -REFRESH_EVERY_MS;
  const { created, aimed } = visits.dataset;
  /** Which link was shown or told of last, since when it had its target, and its state. The page tells it if the link works. */
  let leadsThen = aimed === undefined ? undefined : [created, aimed, "active"].join(" ");

  async function look(): Promise<void> {
    if (document.hidden || visits?.isConnected !== true) return;
    const { data, status, pollMs } = await ask<Link>(visits?.dataset["link"] ?? "");
    askedForMs = pollMs;
    if (data === undefined && status !== 404 && status !== 410) return;
    // Whoever is about to follow the link must not read where it led before. Another link may have its code by now.
    const leads = [data?.created, data?.changed ?? data?.created, data?.state].join(" ");
    if (leadsThen !== undefined && leads !== leadsThen) return location.reload();
    leadsThen = leads;
    if (data === undefined || data.created !== visits?.dataset["created"]) return;
    if (String(data.visits) === visits.dataset["visits"]) return;
    waitMs = EVERY_MS;
    if (count) count.textContent = number.format(data.visits);
    // With the first visit, the page says that there are none beside a count of one.
    const isFirst = visits.dataset["visits"] === "0";
    if (isFirst || performance.now() - refreshedMs >= REFRESH_EVERY_MS) await refresh();
  }

  /** Reads the visits in the range that `search` chooses; says whether it got them. */
  async function refresh(search = shown): Promise<boolean> {
    refreshedMs = performance.now();
    const turn = ++reading;
    const { lang } = document.documentElement;
    const known = search === shown ? tag : undefined;
    const headers = { "Accept-Language": lang, ...(known !== undefined && { "If-None-Match": known }) };
    const response = await fetch(addressOf(search), { headers });
    const text = await response.text();
    // The reader has chosen another range since.
    if (turn !== reading || response.status === 304) return true;
    const page = new DOMParser().parseFromString(text, "text/html");
    const fresh = page.querySelector<HTMLElement>("#visits");
    if (!visits || !fresh) return false;
    visits.dataset["visits"] = fresh.dataset["visits"];
    tag = response.headers.get("ETag") ?? undefined;
    // The cookie prevails: another tab may have chosen another language since.
    if (page.documentElement.lang !== lang) return false;
    shown = search;
    takeOver(visits, fresh);
    return true;
  }

  /** Only with what a range depends on: a language in the address would be remembered anew each time. */
  function addressOf(search: string): string {
    const asked = new URLSearchParams(search);
    const query = new URLSearchParams([...asked].filter(([name]) => CHOICES.includes(name)));
    query.set("tz", timeZone);
    return `${location.pathname}?${query}`;
  }

  /** Without an answer, the browser opens the page as it does without scripts. */
  async function choose(search: string): Promise<void> {
    const isShown = await refresh(search).catch(() => false);
    if (!isShown) location.reload();
  }

  visits.addEventListener("click", (event) => {
    const link =
      event.target instanceof Element ? event.target.closest<HTMLAnchorElement>(".ranges a") : null;
    if (!link || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)
      return;
    event.preventDefault();
    const [query, chosen] = [location.search, link.search].map((search) => new URLSearchParams(search));
    for (const name of CHOICES) {
      const value = chosen?.get(name);
      if (value) query?.set(name, value);
      else query?.delete(name);
    }
    const search = `?${query}`;
    if (search === location.search) return;
    history.pushState(null, "", location.pathname + search);
    void choose(search);
  });
  addEventListener("popstate", () => {
    if (visits.isConnected && location.search !== shown) void choose(location.search);
  });

  let timer = 0;
  function lookAgain(): void {
    clearTimeout(timer);
    timer = window.setTimeout(
      () => {
        waitMs = Math.min(waitMs * 1.1, SLOWEST_MS);
        // What could not be asked now is asked next time.
        void look()
          .catch(() => {})
          .finally(lookAgain);
      },
      Math.max(waitMs, askedForMs),
    );
  }

  document.addEventListener("visibilitychange", () => {
    waitMs = EVERY_MS;
    lookAgain();
  });
  visits.querySelector("[data-live]")?.removeAttribute("hidden");
  readCharts(visits);
  if (visits.dataset["zone"] !== timeZone) void refresh().catch(() => {});
  lookAgain();
}

/** Replaces what is fresh. What is open stays open, and the focus stays where it was. */
function takeOver(visits: HTMLElement, fresh: HTMLElement): void {
  const parts = fresh.querySelectorAll("[data-fresh]");
  const open = new Set(Array.from(visits.querySelectorAll("details[open]"), ({ id }) => id));
  const focused = visits.contains(document.activeElement) ? document.activeElement : null;
  const id = focused?.id || focused?.closest("details")?.id;
  const point = visits.querySelector<HTMLInputElement>("#chart-point");
  const isRead = visits.querySelector(".reading:not(:empty)") !== null;
  visits.querySelectorAll("[data-fresh]").forEach((part, nth) => {
    part.replaceChildren(...(parts[nth]?.childNodes ?? []));
  });
  for (const details of visits.querySelectorAll("details")) details.open = open.has(details.id);
  const points = visits.querySelector<HTMLInputElement>("#chart-point");
  readCharts(visits);
  if (point && points && point.max === points.max) {
    points.value = point.value;
    // Somebody points at it.
    if (isRead) points.dispatchEvent(new Event("input"));
  }
  if (!id) return;
  const again = document.getElementById(id);
  (again?.matches("details") ? again.querySelector("summary") : again)?.focus({ preventScroll: true });
}
