/** Tells the value of a chart that is pointed at, with the mouse, a finger or the arrow keys. */
export function readCharts(within: ParentNode): void {
  for (const chart of within.querySelectorAll<HTMLElement>(".chart")) readChart(chart);
}

/** Keys move the value of a field that lies over the chart, which is also what screen readers read. */
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
    // What a finger has pointed at stays until something else is touched.
    event.preventDefault();
    input.focus({ preventScroll: true });
  });
  bars.addEventListener("pointerleave", hide);
  input.addEventListener("input", () => show(input.valueAsNumber));
  input.addEventListener("focus", () => show(input.valueAsNumber));
  input.addEventListener("blur", hide);
}
