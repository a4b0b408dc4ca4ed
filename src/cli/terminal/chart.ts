const EIGHTHS = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
const MAX_BAR_WIDTH = 4;

export interface ChartSize {
  /** In characters. */
  readonly width: number;
  readonly height: number;
}

/** A bar for each value, or for the sum of several if there are more than fit. All bars together have the height. */
export function bars(values: readonly number[], { width, height }: ChartSize): string[] {
  const share = Math.max(1, Math.ceil(values.length / width));
  const sums: number[] = [];
  for (let at = 0; at < values.length; at += share)
    sums.push(values.slice(at, at + share).reduce((sum, value) => sum + value, 0));
  const place = Math.min(MAX_BAR_WIDTH, Math.max(1, Math.floor(width / Math.max(1, sums.length))));
  const barWidth = Math.max(1, place - 1);
  const most = Math.max(1, ...sums);
  const label = most.toLocaleString("en");
  return Array.from({ length: height }, (_, row) => {
    const below = (height - 1 - row) * 8;
    const blocks = sums.map((sum) => {
      // What is not zero is seen.
      const eighths = sum === 0 ? 0 : Math.max(1, Math.round((sum / most) * height * 8));
      const block = EIGHTHS[Math.min(8, Math.max(0, eighths - below))] ?? " ";
      return block.repeat(barWidth).padEnd(place);
    });
    const side = row === 0 ? label : row === height - 1 ? "0" : "";
    return `${side.padStart(label.length)} │${blocks.join("")}`.trimEnd();
  });
}

/** How much of the width a value takes, in eighths of a character. */
export function bar(value: number, most: number, width: number): string {
  const eighths = value === 0 ? 0 : Math.max(1, Math.round((value / most) * width * 8));
  const rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8] ?? "";
  return "█".repeat(Math.floor(eighths / 8)) + rest;
}
