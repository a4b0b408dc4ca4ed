import { SETTINGS } from "./settings.ts";

/** A variable of the environment that is no setting, and the setting that it may have been meant as. */
export interface Misspelling {
  readonly name: string;
  readonly meant: string;
}

/** Two edits make EDITS of EDITOR and HOST of HOME, which nearly every environment has. */
const LONG_NAME = 8;
/** Near a setting, but usual: systemd sets the first. */
const USUAL: ReadonlySet<string> = new Set(["CACHE_DIRECTORY", "SMTP_PORT"]);

/** Whoever has set the right name, too, means something else by the other. */
export function misspellings(env: Readonly<Record<string, string | undefined>>): Misspelling[] {
  const names: readonly string[] = Object.values(SETTINGS).map(({ name }) => name);
  const unset = names.filter((name) => env[name] === undefined);
  return Object.keys(env)
    .filter((name) => !names.includes(name) && !USUAL.has(name))
    .flatMap((name) => {
      const [nearest] = unset
        .map((meant) => ({ name, meant, edits: edits(name, meant) }))
        .filter(({ meant, edits: count }) => count <= (meant.length < LONG_NAME ? 1 : 2))
        .toSorted((a, b) => a.edits - b.edits);
      return nearest === undefined ? [] : [{ name, meant: nearest.meant }];
    });
}

/** How many characters were added, left out, replaced or swapped with the next (optimal string alignment). */
function edits(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return Number.POSITIVE_INFINITY;
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwapped = i > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row[j] = Math.min(
        (last[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (last[j - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    before = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
