import { ask, type Link } from "./api.ts";

const EVERY_MS = 2000;
/** Between two looks at a link that nobody visits. */
const SLOWEST_MS = 30_000;
/** Between two readings of the whole page, which cost the service more than a count. */
const REFRESH_EVERY_MS = 5000;

/**
 * Keeps the visits of a preview up to date, in the reader's own time zone, while somebody looks. The count is asked
 * for, less and less often while it stands still; after it has moved, the page is read anew, and its fresh parts are
 * taken over.
 */
export function watchVisits(): void {
  const visits = document.querySelector<HTMLElement>("#visits");
  if (!visits) return;
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const address = `${location.pathname}?tz=${encodeURIComponent(timeZone)}`;
  const count = visits.querySelector("[role=status]");
  const number = new Intl.NumberFormat(document.documentElement.lang);
  let waitMs = EVERY_MS;
  /** While many look at this link, the service asks each of them to wait longer. */
  let askedForMs = 0;
  /** Of the page as it was read last. */
  let tag: string | undefined;
  let refreshedMs = -REFRESH_EVERY_MS;

  async function look(): Promise<void> {
    if (document.hidden || visits?.isConnected !== true) return;
    const { data, pollMs } = await ask<Link>(visits?.dataset["link"] ?? "");
    askedForMs = pollMs;
    // Another link may have its code by now.
    if (data === undefined || data.created !== visits?.dataset["created"]) return;
    if (String(data.visits) === visits.dataset["visits"]) return;
    waitMs = EVERY_MS;
    if (count) count.textContent = number.format(data.visits);
    if (performance.now() - refreshedMs >= REFRESH_EVERY_MS) await refresh();
  }

  async function refresh(): Promise<void> {
    refreshedMs = performance.now();
    const { lang } = document.documentElement;
    const headers = { "Accept-Language": lang, ...(tag !== undefined && { "If-None-Match": tag }) };
    const response = await fetch(address, { headers });
    if (response.status === 304) return;
    tag = response.headers.get("ETag") ?? undefined;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = page.querySelector<HTMLElement>("#visits");
    if (!visits || !fresh) return;
    visits.dataset["visits"] = fresh.dataset["visits"];
    // The cookie prevails: another tab may have chosen another language since.
    if (page.documentElement.lang !== lang) return;
    const parts = fresh.querySelectorAll("[data-fresh]");
    const open = new Set(Array.from(visits.querySelectorAll("details[open]"), ({ id }) => id));
    const focused = visits.querySelector("details:focus-within")?.id;
    visits.querySelectorAll("[data-fresh]").forEach((part, nth) => {
      part.replaceChildren(...(parts[nth]?.childNodes ?? []));
    });
    for (const details of visits.querySelectorAll("details")) {
      details.open = open.has(details.id);
      if (details.id === focused) details.querySelector("summary")?.focus({ preventScroll: true });
    }
  }

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
  if (visits.dataset["zone"] !== timeZone) void refresh().catch(() => {});
  lookAgain();
}
