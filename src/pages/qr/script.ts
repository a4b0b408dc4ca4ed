import { showDone } from "../shared/script.ts";
import { judge, moduleWidth, type Verdict, widthWithQuietZone } from "./qr-style.ts";

/** Restyles a QR code, and says whether scanners can read it. Without scripts, the server does. */
export function styleQrCode(): void {
  const form = document.querySelector<HTMLFormElement>("form[data-qr]");
  if (!form) return;
  /** Replaced with other modules or another margin. */
  const drawingOf = () => document.querySelector<SVGSVGElement>("svg[data-modules]");
  const swatches = Array.from(form.querySelectorAll<HTMLInputElement>("[type=color]"));
  const digitsOf = (swatch: HTMLInputElement) => swatch.nextElementSibling as HTMLInputElement;
  let turn = 0;

  const valuesIn = () =>
    Object.fromEntries(
      [...new FormData(form)].map(([name, value]) => [name, typeof value === "string" ? value : ""]),
    );
  const queryOf = () => new URLSearchParams(valuesIn()).toString();

  /** Modules take whole pixels of the screen where there is less room, because blurred ones are hard to read. */
  function fit(): void {
    const drawing = drawingOf();
    if (!drawing) return;
    const across = drawing.viewBox.baseVal.width;
    const modules = Number(drawing.dataset["modules"]);
    const margin = (across - modules) / 2;
    const fullWidth = moduleWidth(modules, margin, Number(drawing.dataset["width"]));
    const needed = widthWithQuietZone(modules, margin);
    const room = drawing.parentElement?.clientWidth ?? 0;
    const dots = Math.max(1, Math.floor((room * devicePixelRatio) / needed));
    const width = String(across * (fullWidth * needed <= room ? fullWidth : dots / devicePixelRatio));
    drawing.setAttribute("width", width);
    drawing.setAttribute("height", width);
  }

  function restyle(): void {
    const drawing = drawingOf();
    if (!form?.checkValidity() || !drawing) return;
    const { dark = "", light = "", margin, size } = valuesIn();
    for (const swatch of swatches) swatch.value = digitsOf(swatch).value.replace(/^#?/, "#");
    drawing.querySelector("rect")?.setAttribute("fill", light.replace(/^#?/, "#"));
    drawing.querySelector("path")?.setAttribute("stroke", dark.replace(/^#?/, "#"));
    const verdict = judge(
      { dark, light, margin: Number(margin), size: Number(size) },
      Number(drawing.dataset["modules"]),
    );
    for (const output of document.querySelectorAll<HTMLElement>("[data-word]"))
      output.replaceChildren(...textOf(output, verdict));
    // The reader has replaced the refused values.
    for (const refusal of form.querySelectorAll(".refusal")) refusal.remove();
    for (const field of form.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
    if (verdict.isRefused) form.querySelector("[name=dark]")?.setAttribute("aria-invalid", "true");
    for (const link of document.querySelectorAll<HTMLAnchorElement>("a[data-format]")) {
      link.ariaDisabled = verdict.isRefused ? "true" : null;
      link.role = verdict.isRefused ? "link" : null;
      if (verdict.isRefused) {
        link.removeAttribute("href");
        link.setAttribute("aria-describedby", "verdict");
      } else link.href = `${form.dataset["qr"]}.${link.dataset["format"]}?${queryOf()}`;
    }
    for (const button of document.querySelectorAll<HTMLButtonElement>("[data-copy-image], [data-print]"))
      button.disabled = verdict.isRefused;
  }

  /** The service draws other modules and margins. Until they are here, the last ones stay. */
  async function redraw(query: string): Promise<void> {
    const mine = ++turn;
    const headers = { "Accept-Language": document.documentElement.lang };
    const response = await fetch(`${location.pathname}?${query}`, { headers });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = page.querySelector("svg[data-modules]");
    if (mine !== turn || !fresh) return;
    drawingOf()?.replaceWith(fresh);
    fit();
    restyle();
  }

  fit();
  for (const swatch of swatches) swatch.hidden = false;
  addEventListener("resize", fit);
  form.addEventListener("input", ({ target }) => {
    const swatch = swatches.find((one) => one === target);
    if (swatch) digitsOf(swatch).value = swatch.value;
    restyle();
  });
  form.addEventListener("change", ({ target }) => {
    if (!(target as HTMLInputElement).reportValidity() || !form.checkValidity()) return;
    const query = queryOf();
    // The address then shows the same after a reload, to others, and in another language.
    history.replaceState(history.state, "", `?${query}`);
    for (const link of document.querySelectorAll<HTMLAnchorElement>("a[hreflang]"))
      link.search = `${query}&language=${link.hreflang}`;
    // The button does the same where this fails.
    if (["ecc", "margin"].includes((target as HTMLInputElement).name)) redraw(query).catch(() => {});
  });
  document.querySelector("#verdict")?.addEventListener("click", (event) => {
    if (!(event.target as Element).matches("[data-swap]")) return;
    event.preventDefault();
    const [dark, light] = swatches.map(digitsOf);
    if (!dark || !light) return;
    [dark.value, light.value] = [light.value, dark.value];
    // The focused link is gone.
    dark.focus();
    for (const type of ["input", "change"]) dark.dispatchEvent(new Event(type, { bubbles: true }));
  });
}

/** What the verdict says in this place, if anything. */
function textOf(output: HTMLElement, { words, contrast, minSize }: Verdict): (string | Element)[] {
  const { word, text = "", swapText = "" } = output.dataset;
  if (!words.some((one) => one === word)) return [];
  return text.split(/(\{\w+\})/).map((part) => {
    if (part === "{contrast}") return String(contrast);
    if (part === "{size}") return String(minSize);
    if (part !== "{swap}") return part;
    const link = Object.assign(document.createElement("a"), { href: "", textContent: swapText });
    link.dataset["swap"] = "";
    return link;
  });
}

/** Shows the buttons that copy an image, where the browser can. That needs a secure context (https). */
export function copyImages(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>("[data-copy-image]")) {
    button.hidden = typeof ClipboardItem === "undefined";
    button.addEventListener("click", () => void copyImage(button));
  }
}

async function copyImage(button: HTMLButtonElement): Promise<void> {
  const actions = button.closest(".actions");
  const png = actions?.querySelector<HTMLAnchorElement>("a[data-format=png]");
  const output = actions?.querySelector("output");
  if (!png || !output) return;
  const { done = "", failed = "" } = button.dataset;
  try {
    // A promise, because Safari refuses to copy after waiting for something else.
    const image = fetch(png.href).then((response) => response.blob());
    await navigator.clipboard.write([new ClipboardItem({ "image/png": image })]);
    output.textContent = done;
    // Sighted readers see it on the button.
    output.classList.add("unseen");
    showDone(button, output, done);
  } catch {
    output.textContent = failed;
    output.classList.remove("unseen");
  }
}

export function printSheets(): void {
  document.querySelector("[data-print]")?.addEventListener("click", () => print());
}
