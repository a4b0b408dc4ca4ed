import { type Answer, knownToken } from "../shared/script.ts";

/** The band of the window that decides which part is being read. */
const READ_AT = "-15% 0px -80% 0px";
const TIMEOUT_MS = 30_000;
const SHOWN_HEADERS = ["Location", "RateLimit", "Retry-After"];

/** The links of the index with their parts. */
function indexedParts(): readonly (readonly [link: HTMLAnchorElement, part: HTMLElement])[] {
  return [...document.querySelectorAll<HTMLAnchorElement>(".contents a")].flatMap((link) => {
    const part = document.getElementById(link.hash.slice(1));
    return part === null ? [] : [[link, part]];
  });
}

/** Marks the part being read in the index. */
export function markCurrentPart(): void {
  const index = document.querySelector(".contents");
  if (index === null) return;
  const parts = indexedParts();
  const inSight = new Set<Element>();
  const watch = new IntersectionObserver(
    (changes) => {
      for (const { target, isIntersecting } of changes)
        if (isIntersecting) inSight.add(target);
        else inSight.delete(target);
      const [read] = parts.find(([, part]) => inSight.has(part)) ?? [];
      for (const [link] of parts) link.ariaCurrent = link === read ? "true" : null;
      // The index scrolls by itself if it is higher than the window.
      if (read !== undefined) index.scrollTop = read.offsetTop - index.clientHeight / 2;
    },
    { rootMargin: READ_AT },
  );
  for (const [, part] of parts) watch.observe(part);
}

/** Shows only the parts that have all words of the search, also in folded text. */
export function searchParts(): void {
  const box = document.querySelector<HTMLElement>(".contents > search");
  const input = box?.querySelector("input");
  const output = box?.querySelector("output");
  if (!box || !input || !output) return;
  const parts = indexedParts();
  box.hidden = false;

  const show = () => {
    const words = input.value.trim().toLowerCase().split(/\s+/);
    for (const [link, part] of parts) {
      const text = part.textContent.toLowerCase();
      part.hidden = !words.every((word) => text.includes(word));
      (link.parentElement ?? link).hidden = part.hidden;
    }
    const count = parts.filter(([, part]) => !part.hidden).length;
    const found = output.dataset["found"] ?? "";
    output.textContent =
      input.value === ""
        ? ""
        : found.replace("{count}", String(count)).replace("{all}", String(parts.length));
  };

  input.addEventListener("input", () => {
    show();
    scrollTo({ top: 0 });
  });
  // A link to a part that the search hides shows everything again.
  addEventListener("hashchange", () => {
    const part = document.querySelector(":target[hidden]");
    if (part === null) return;
    input.value = "";
    show();
    part.scrollIntoView();
  });
}

/** Shows the forms that call the API and makes them work. Without scripts they stay hidden. */
export function enableForms(within: ParentNode): void {
  for (const box of within.querySelectorAll<HTMLElement>(".try")) {
    const form = box.querySelector("form");
    const output = box.querySelector("output");
    if (form === null || output === null) continue;
    box.hidden = false;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (form.ariaBusy !== "true") void send(form, output);
    });
  }
}

async function send(form: HTMLFormElement, output: HTMLOutputElement): Promise<void> {
  form.ariaBusy = "true";
  output.hidden = false;
  output.textContent = "…";
  try {
    const response = await fetch(addressOf(form), requestOf(form));
    const isImage = response.headers.get("content-type")?.startsWith("image/") === true;
    if (response.status === 201) await askAbout(response.clone());
    output.textContent = await describe(response, isImage);
    if (isImage) output.append(Object.assign(new Image(), { src: response.url, alt: response.url }));
  } catch {
    output.textContent = form.dataset["failure"] ?? "";
  }
  form.ariaBusy = "false";
}

/** Fills the code and the key of the new link into the other forms. */
async function askAbout(response: Response): Promise<void> {
  const { data } = (await response.json()) as Answer<{ code: string }>;
  fill("input[data-in=path][name=code]", data?.code);
  fill("input[data-in=authorization]", /#key=([\w-]+)/.exec(response.headers.get("Link") ?? "")?.[1]);
}

function fill(inputs: string, value: string | undefined): void {
  for (const input of document.querySelectorAll<HTMLInputElement>(inputs)) input.value = value ?? input.value;
}

/** Relative, so that the request goes to this page's origin even if BASE_URL is another one. */
function addressOf(form: HTMLFormElement): string {
  let path = form.dataset["path"] ?? "";
  const query = new URLSearchParams();
  for (const { name, value, dataset } of form.querySelectorAll<HTMLInputElement>(
    "input:not([data-in=authorization])",
  )) {
    if (dataset["in"] === "path") path = path.replace(`{${name}}`, () => encodeURIComponent(value));
    else if (dataset["in"] === "query" && value !== "") query.append(name, value);
  }
  return query.size === 0 ? path : `${path}?${query}`;
}

/** Sends the text as typed, even if it isn't JSON, to show how the API reports mistakes. */
function requestOf(form: HTMLFormElement): RequestInit {
  const key = form.querySelector<HTMLInputElement>("input[data-in=authorization]")?.value;
  const token = form.dataset["method"] === "POST" ? knownToken() : key || null;
  const inputs = [...form.querySelectorAll<HTMLInputElement>("input[data-in=header]")];
  const headers = {
    "Accept-Language": document.documentElement.lang,
    ...Object.fromEntries(inputs.flatMap(({ name, value }) => (value === "" ? [] : [[name, value]]))),
    ...(token !== null && { Authorization: `Bearer ${token}` }),
  };
  const body = form.querySelector("textarea")?.value;
  return {
    method: form.dataset["method"] ?? "GET",
    headers: body === undefined ? headers : { ...headers, "Content-Type": "application/json" },
    body: body ?? null,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  };
}

async function describe(response: Response, isImage: boolean): Promise<string> {
  const { status, statusText, headers } = response;
  const shownHeaders = SHOWN_HEADERS.filter((name) => headers.has(name)).map(
    (name) => `${name}: ${headers.get(name)}`,
  );
  const body = isImage ? "" : pretty(await response.text());
  return [`${status} ${statusText}`.trim(), ...shownHeaders, "", body].join("\n");
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
