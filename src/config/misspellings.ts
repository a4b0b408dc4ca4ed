import { SETTINGS } from "./settings.ts";

/** An environment variable that is no setting, and the setting that it probably means. */
export interface Misspelling {
  readonly name: string;
  readonly meant: string;
}

/** Two edits turn EDITOR into EDITS and HOME into HOST, which nearly every environment has. */
const LONG_NAME = 8;
/** Usual variables close to a setting. systemd sets the first. */
const USUAL: ReadonlySet<string> = new Set(["CACHE_DIRECTORY", "DOMAIN", "EDITOR", "SMTP_PORT"]);

/** Ignores settings that are set under their right name. */
export function findMisspellings(env: Readonly<Record<string, string | undefined>>): Misspelling[] {
  const names: readonly string[] = Object.values(SETTINGS).map(({ name }) => name);
  const unset = names
    .filter((name) => env[name] === undefined)
    .map((meant) => ({ meant, letters: lettersOf(meant) }));
  return Object.keys(env)
    .filter((name) => !names.includes(name) && !USUAL.has(name))
    .flatMap((name) => {
      const letters = lettersOf(name);
      const [nearest] = unset
        // Two edits change two letters. Counting the edits of all pairs would take a seventh of the start.
        .filter(({ letters: others }) => !hasThree(letters & ~others) && !hasThree(others & ~letters))
        .map(({ meant }) => ({ name, meant, edits: countEdits(name, meant) }))
        .filter(({ meant, edits: count }) => count <= (meant.length < LONG_NAME ? 1 : 2))
        .toSorted((a, b) => a.edits - b.edits);
      return nearest === undefined ? [] : [{ name, meant: nearest.meant }];
    });
}

/** A bit for each letter. */
function lettersOf(name: string): number {
  let letters = 0;
  for (let at = 0; at < name.length; at++) letters |= 1 << (name.charCodeAt(at) & 31);
  return letters;
}

/** Whether at least three bits are set. */
function hasThree(bits: number): boolean {
  const fewer = bits & (bits - 1);
  return (fewer & (fewer - 1)) !== 0;
}

/** Counts characters added, omitted, replaced or swapped with the next (optimal string alignment). */
function countEdits(a: string, b: string): number {
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
