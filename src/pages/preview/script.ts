import { callApi, type Link } from "../shared/script.ts";

/**
 * Focuses the copy button of a new link, with the message that the link is ready. Then removes #made from the address
 * bar, because people share that address.
 */
export function focusCopyButton(): void {
  if (location.hash !== "#made") return;
  // After the browser has scrolled to the target and focused it.
  addEventListener("load", () => {
    history.replaceState(null, "", location.pathname + location.search);
    const copy = document.querySelector<HTMLElement>("main [data-copy]");
    copy?.setAttribute("aria-describedby", "made");
    copy?.focus({ preventScroll: true });
  });
}

const EVERY_MS = 2000;
/** The longest pause while nobody visits the link. */
const SLOWEST_MS = 30_000;
/** The shortest pause between two loads of the page, which cost the service more than a count. */
const REFRESH_EVERY_MS = 5000;
/** The parameters of a range. */
const CHOICES = ["range", "by"];

/**
 * Keeps the visits of a preview up to date while the page is visible, in the reader's time zone. Polls the count, less
 * often while it stands still, and loads the page's fresh parts after a change. Ranges load in the same way, and are in
 * the address for the back button.
 */
export function watchVisits(): void {
  const visits = document.querySelector<HTMLElement>("#visits");
  if (!visits) return;
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const count = visits.querySelector("[role=status]");
  const number = new Intl.NumberFormat(document.documentElement.lang);
  let waitMs = EVERY_MS;
  /** The service slows polling down while many people watch this link. */
  let askedForMs = 0;
  let currentSearch = location.search;
  /** The tag of the last page. */
  let tag: string | undefined;
  let reading = 0;
  let refreshedMs = -REFRESH_EVERY_MS;
  const { created, aimed, ends } = visits.dataset;
  /** Creation, last change, end and state of the link. The page has them if the link works. */
  let lastState = aimed === undefined ? undefined : [created, aimed, ends, "active"].join(" ");

  async function poll(): Promise<void> {
    if (document.hidden || visits?.isConnected !== true) return;
    const { data, status, pollMs } = await callApi<Link>(visits?.dataset["link"] ?? "");
    askedForMs = pollMs;
    if (data === undefined && status !== 404 && status !== 410) return;
    // Nobody must follow a link after reading its former destination. Another link may have its code by now.
    const { created_at, changed_at, expires_at, state } = data ?? {};
    const leads = [created_at, changed_at ?? created_at, expires_at, state].join(" ");
    if (lastState !== undefined && leads !== lastState) return location.reload();
    lastState = leads;
    if (data === undefined || data.created_at !== visits?.dataset["created"]) return;
    if (String(data.visits) === visits.dataset["visits"]) return;
    waitMs = EVERY_MS;
    if (count) count.textContent = number.format(data.visits);
    // After the first visit, the page would say that there are none beside a count of one.
    const isFirst = visits.dataset["visits"] === "0";
    if (isFirst || performance.now() - refreshedMs >= REFRESH_EVERY_MS) await refresh();
  }

  /** Loads the visits of the range in `search`. True if that succeeded. */
  async function refresh(search = currentSearch): Promise<boolean> {
    refreshedMs = performance.now();
    const turn = ++reading;
    const { lang } = document.documentElement;
    const known = search === currentSearch ? tag : undefined;
    const headers = { "Accept-Language": lang, ...(known !== undefined && { "If-None-Match": known }) };
    const response = await fetch(addressOf(search), { headers });
    const text = await response.text();
    // The reader has chosen another range in the meantime.
    if (turn !== reading || response.status === 304) return true;
    const page = new DOMParser().parseFromString(text, "text/html");
    const fresh = page.querySelector<HTMLElement>("#visits");
    if (!visits || !fresh) return false;
    visits.dataset["visits"] = fresh.dataset["visits"];
    tag = response.headers.get("ETag") ?? undefined;
    // The cookie prevails: another tab may have changed the language.
    if (page.documentElement.lang !== lang) return false;
    currentSearch = search;
    takeOver(visits, fresh);
    return true;
  }

  /** Without the language, which the service would store in the cookie again. */
  function addressOf(search: string): string {
    const parameters = new URLSearchParams(search);
    const query = new URLSearchParams([...parameters].filter(([name]) => CHOICES.includes(name)));
    query.set("tz", timeZone);
    return `${location.pathname}?${query}`;
  }

  /** Without a response, the browser opens the page as it does without scripts. */
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
    if (visits.isConnected && location.search !== currentSearch) void choose(location.search);
  });

  let timer = 0;
  function pollAgain(): void {
    clearTimeout(timer);
    timer = window.setTimeout(
      () => {
        waitMs = Math.min(waitMs * 1.1, SLOWEST_MS);
        // The next poll tries again.
        void poll()
          .catch(() => {})
          .finally(pollAgain);
      },
      Math.max(waitMs, askedForMs),
    );
  }

  document.addEventListener("visibilitychange", () => {
    waitMs = EVERY_MS;
    pollAgain();
  });
  const live = visits.querySelector<HTMLElement>("[data-live]");
  if (live) Object.assign(live, { textContent: live.dataset["live"], hidden: false });
  const isLocal = visits.dataset["zone"] === timeZone || visits.dataset["visits"] === "0";
  void (isLocal ? Promise.resolve() : refresh())
    .catch(() => {})
    .finally(() => visits.toggleAttribute("data-local", true));
  pollAgain();
}

/** Replaces the fresh parts. Open details and the focus stay. */
function takeOver(visits: HTMLElement, fresh: HTMLElement): void {
  const parts = fresh.querySelectorAll("[data-fresh]");
  const open = new Set(Array.from(visits.querySelectorAll("details[open]"), ({ id }) => id));
  const focused = visits.contains(document.activeElement) ? document.activeElement : null;
  const id = focused?.id || focused?.closest("details")?.id;
  const point = visits.querySelector<HTMLInputElement>("#chart-point");
  const isRead = visits.querySelector(".reading:not(:empty)") !== null;
  const tab = visits.querySelector("[name=dimension]:checked")?.id;
  visits.querySelectorAll("[data-fresh]").forEach((part, nth) => {
    part.replaceChildren(...(parts[nth]?.childNodes ?? []));
  });
  for (const details of visits.querySelectorAll("details")) details.open = open.has(details.id);
  const chosen = tab === undefined ? null : visits.querySelector<HTMLInputElement>(`#${tab}`);
  if (chosen) chosen.checked = true;
  const points = visits.querySelector<HTMLInputElement>("#chart-point");
  readCharts(visits);
  if (point && points && point.max === points.max) {
    points.value = point.value;
    // The reader is pointing at it.
    if (isRead) points.dispatchEvent(new Event("input"));
  }
  if (!id) return;
  const again = document.getElementById(id);
  (again?.matches("details") ? again.querySelector("summary") : again)?.focus({ preventScroll: true });
}

/** Shows the value of a chart below the mouse, the finger or the arrow keys' position. */
export function readCharts(within: ParentNode): void {
  for (const chart of within.querySelectorAll<HTMLElement>(".chart")) readChart(chart);
  const week = within.querySelector<HTMLTableElement>("#week");
  if (week) readWeek(week);
}

/** From one hour of the week to another. */
const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -24, ArrowDown: 24 };

function readWeek(week: HTMLTableElement): void {
  const reading = week.previousElementSibling?.querySelector(".reading");
  const cells = Array.from(week.querySelectorAll<HTMLElement>("tbody td"));
  const hours = Array.from(week.querySelectorAll("thead th"), ({ textContent }) => textContent);
  let at = 0;

  function show(nth: number): void {
    hide();
    at = nth;
    const cell = cells[at];
    if (!cell || !reading) return;
    cell.classList.add("at");
    const day = cell.parentElement?.firstElementChild?.textContent;
    reading.textContent = cell.title || `${day} ${hours[at % hours.length]}: ${cell.textContent}`;
  }

  function hide(): void {
    cells[at]?.classList.remove("at");
    reading?.replaceChildren();
  }

  function point({ target }: Event): void {
    const nth = cells.findIndex((cell) => cell.contains(target as Node));
    if (nth >= 0) show(nth);
  }

  week.tabIndex = 0;
  week.addEventListener("pointerover", point);
  // Touching gives the focus, so the value stays.
  week.addEventListener("pointerleave", () => {
    if (document.activeElement !== week) hide();
  });
  week.addEventListener("focus", () => show(at));
  week.addEventListener("blur", hide);
  week.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    show((at + step + cells.length) % cells.length);
  });
}

/** A range input over the chart handles the keys, and screen readers read it. */
function readChart(chart: HTMLElement): void {
  const bars = chart.querySelector<HTMLElement>(".bars");
  const input = chart.querySelector<HTMLInputElement>("input");
  const mark = chart.querySelector<SVGElement>(".at");
  const reading = chart.querySelector<HTMLElement>(".reading");
  const points = Array.from(chart.querySelectorAll("title"), ({ textContent }) => textContent);
  if (!bars || !input || !mark || !reading) return;

  function show(nth: number): void {
    if (!input || !mark || !reading) return;
    input.valueAsNumber = nth;
    input.ariaValueText = points[nth] ?? "";
    mark.setAttribute("x", String(nth * Number(mark.getAttribute("width"))));
    mark.removeAttribute("hidden");
    reading.textContent = points[nth] ?? "";
  }

  function hide(): void {
    if (!mark || !reading || document.activeElement === input) return;
    mark.setAttribute("hidden", "");
    reading.textContent = "";
  }

  function point({ clientX }: PointerEvent): void {
    const { left, width } = bars?.getBoundingClientRect() ?? { left: 0, width: 1 };
    const nth = Math.floor(((clientX - left) / width) * points.length);
    show(Math.min(Math.max(nth, 0), points.length - 1));
  }

  input.hidden = false;
  input.ariaValueText = points.at(-1) ?? "";
  bars.addEventListener("pointermove", point);
  bars.addEventListener("pointerdown", (event) => {
    point(event);
    // The value stays until the finger touches something else.
    event.preventDefault();
    input.focus({ preventScroll: true });
  });
  bars.addEventListener("pointerleave", hide);
  input.addEventListener("input", () => show(input.valueAsNumber));
  input.addEventListener("focus", () => show(input.valueAsNumber));
  input.addEventListener("blur", hide);
}
