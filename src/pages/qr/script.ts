import { sayOn } from "../shared/script/copy.ts";
import { judge, moduleWidth, widthWithQuietZone } from "./qr-style.ts";

/**
 * Shows a QR code in the chosen colours, and says whether scanners will read it. Without scripts, the service does both; it
 * always draws the modules and the margin.
 */
export function styleQrCode(): void {
  const form = document.querySelector<HTMLFormElement>("form[data-qr]");
  const drawing = document.querySelector<SVGSVGElement>("svg[data-modules]");
  if (!form || !drawing) return;

  const chosen = () =>
    Object.fromEntries(
      [...new FormData(form)].map(([name, value]) => [name, typeof value === "string" ? value : ""]),
    );
  const queryOf = () => new URLSearchParams(chosen()).toString();

  /** Gives modules a whole number of the screen's pixels also where there is less room: blurred ones are hard to read. */
  function fit(): void {
    if (!drawing) return;
    const across = drawing.viewBox.baseVal.width;
    const modules = Number(drawing.dataset["modules"]);
    const margin = (across - modules) / 2;
    const wanted = moduleWidth(modules, margin, Number(drawing.dataset["width"]));
    const needed = widthWithQuietZone(modules, margin);
    const room = drawing.parentElement?.clientWidth ?? 0;
    const dots = Math.max(1, Math.floor((room * devicePixelRatio) / needed));
    const width = String(across * (wanted * needed <= room ? wanted : dots / devicePixelRatio));
    drawing.setAttribute("width", width);
    drawing.setAttribute("height", width);
  }

  function restyle(): void {
    if (!form?.checkValidity() || !drawing) return;
    const { dark = "", light = "", margin, size } = chosen();
    drawing.querySelector("rect")?.setAttribute("fill", light);
    drawing.querySelector("path")?.setAttribute("stroke", dark);
    const verdict = judge(
      { dark, light, margin: Number(margin), size: Number(size) },
      Number(drawing.dataset["modules"]),
    );
    for (const said of form.querySelectorAll<HTMLElement>("[data-word]"))
      said.hidden = !verdict.words.some((word) => word === said.dataset["word"]);
    for (const value of form.querySelectorAll<HTMLElement>("[data-value]"))
      value.textContent = String(value.dataset["value"] === "minSize" ? verdict.minSize : verdict.contrast);
    // What the service refused was replaced.
    for (const refusal of form.querySelectorAll(".refusal")) refusal.remove();
    for (const field of form.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
    for (const link of document.querySelectorAll<HTMLAnchorElement>("a[data-format]")) {
      link.ariaDisabled = verdict.isRefused ? "true" : null;
      link.role = verdict.isRefused ? "link" : null;
      if (verdict.isRefused) link.removeAttribute("href");
      else link.href = `${form.dataset["qr"]}.${link.dataset["format"]}?${queryOf()}`;
    }
    for (const button of document.querySelectorAll<HTMLButtonElement>("[data-copy-image], [data-print]"))
      button.disabled = verdict.isRefused;
  }

  fit();
  addEventListener("resize", fit);
  form.addEventListener("input", restyle);
  form.addEventListener("change", ({ target }) => {
    if (!(target as HTMLInputElement).reportValidity() || !form.checkValidity()) return;
    const query = queryOf();
    // So that the address shows the same after a reload, to whom it is sent, and in another language.
    history.replaceState(history.state, "", `?${query}`);
    for (const link of document.querySelectorAll<HTMLAnchorElement>("a[hreflang]"))
      link.search = `${query}&language=${link.hreflang}`;
  });
  form.querySelector("[data-swap]")?.addEventListener("click", (event) => {
    event.preventDefault();
    const [dark, light] = ["dark", "light"].map((name) =>
      form.querySelector<HTMLInputElement>(`[name=${name}]`),
    );
    if (!dark || !light) return;
    [dark.value, light.value] = [light.value, dark.value];
    // What had the focus is gone.
    dark.focus();
    for (const type of ["input", "change"]) dark.dispatchEvent(new Event(type, { bubbles: true }));
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
  const png = button.parentElement?.querySelector<HTMLAnchorElement>("a[data-format=png]");
  const said = button.parentElement?.querySelector("output");
  if (!png || !said) return;
  const { done = "", failed = "" } = button.dataset;
  try {
    // Given as a promise: Safari lets nobody copy who first waits for something else.
    const image = fetch(png.href).then((response) => response.blob());
    await navigator.clipboard.write([new ClipboardItem({ "image/png": image })]);
    said.textContent = done;
    // Those who see it see it on the button.
    said.classList.add("unseen");
    sayOn(button, said, done);
  } catch {
    said.textContent = failed;
    said.classList.remove("unseen");
  }
}

/** Shows the buttons that print. */
export function printSheets(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>("[data-print]")) {
    button.hidden = false;
    button.addEventListener("click", () => print());
  }
}
