/** Breaks lines at spaces to fit in `columns`. All but the first are indented. */
export function wrap(text: string, columns: number, indent = 0): string {
  const lines = Bun.wrapAnsi(text, Math.max(columns - indent, MIN_COLUMNS), { hard: true });
  return lines.replaceAll("\n", `\n${" ".repeat(indent)}`);
}

/** Narrower lines are harder to read than those that the terminal breaks. */
const MIN_COLUMNS = 20;
