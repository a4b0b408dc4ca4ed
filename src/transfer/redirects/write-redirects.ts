import { typedCapitals } from "../../links/code-suggestions.ts";
import { lookUpCode, spellingsOf } from "../../links/code.ts";
import type { Records } from "../../store/shared/records.ts";
import { createLiveLinkCheck, type LeftOut, type LiveLinkOptions } from "./live-links.ts";
import { type Entry, fitsFolder, type Format, type Site } from "./redirect-formats.ts";

/** The minimum length of a write, in UTF-16 units. */
const CHUNK_LENGTH = 256 * 1024;
/** Without this, Bun's garbage doubles the memory. */
const LINKS_PER_COLLECTION = 5000;
/** Of keys. With ten million, one in fourteen is wrongly taken for a repeated one. */
const HASHES = 2 ** 27;

interface RedirectFile extends Site {
  readonly keyPrefix: string;
  /** Writes the next lines, or a file at a path in the folder. */
  write(text: string, path: string): Promise<void>;
}

interface WriteOptions extends Omit<LiveLinkOptions, "keyPrefixes"> {
  readonly files: readonly RedirectFile[];
  readonly onLinks: (count: number) => void;
}

/**
 * Writes the links that redirect now, in bounded memory. If the format has keys, a first pass finds those that may be repeated, and
 * the second holds only their entries. Returns the number of links per file, of those left out, and of those that lose the query or
 * the path.
 */
export async function writeRedirects(
  records: Pick<Records, "snapshot" | "codeCase">,
  { keyOf, isFolder = false, hasOneSpelling = false, ...format }: Format,
  { files, onLinks, ...options }: WriteOptions,
) {
  const states = files.map((file) => ({ file, entries: 0, links: 0, pending: "" }));
  const byPrefix = new Map(states.map((state) => [state.file.keyPrefix, state]));
  const leftOut = new Map<LeftOut, number>();
  const leaveOut = (why: LeftOut) => leftOut.set(why, (leftOut.get(why) ?? 0) + 1);
  const codeCase = await records.codeCase();
  let [losingQuery, losingPath, uncollected] = [0, 0, 0];
  type State = (typeof states)[number];

  function spellingsFor({ code, stored, target }: Pick<Entry, "code" | "stored" | "target">) {
    if (hasOneSpelling) return [code];
    const { fold } = format;
    return codeCase === "match" || fold === undefined
      ? spellingsOf(code, stored)
      : spellingsIgnoring((spelling) => fold(spelling, target), code, stored);
  }

  /** Returns a promise only if it waits, because waiting for nothing would take seconds for millions of links. */
  function write(state: State, entries: readonly [Entry, ...Entry[]]): Promise<void> | undefined {
    const text = format.write(entries, ({ code, spelling }, why) => {
      if (spelling === code) state.links--;
      if (spelling === code) leaveOut(why);
      return "";
    });
    if (isFolder) return text === "" ? undefined : writePages(state, entries[0], text);
    state.pending += text;
    return state.pending.length < CHUNK_LENGTH ? undefined : flush(state);
  }

  async function writePages({ file }: State, { code, stored }: Entry, text: string): Promise<void> {
    for (const folder of spellingsOf(code, stored).filter(fitsFolder))
      await file.write(text, `${folder}/index.html`);
  }

  async function flush(state: State): Promise<void> {
    await state.file.write(state.pending, "404.html");
    state.pending = "";
  }

  await records.snapshot(async (read) => {
    const check = await createLiveLinkCheck(read, { ...options, keyPrefixes: [...byPrefix.keys()] });

    async function each(isFirst: boolean, work: (state: State, entry: Entry) => Promise<void> | undefined) {
      for await (const links of read("link")) {
        for (const link of links) {
          const live = check(link);
          const state = typeof live === "string" ? undefined : byPrefix.get(live.keyPrefix);
          if (typeof live === "string" && isFirst) leaveOut(live);
          if (typeof live === "string" || state === undefined) continue;
          if (isFirst) state.links++;
          if (isFirst && live.losesQuery) losingQuery++;
          if (isFirst && live.losesPath) losingPath++;
          for (const spelling of spellingsFor(live)) {
            const written = work(state, { ...live, codeCase, spelling });
            if (written !== undefined) await written;
          }
        }
        onLinks(links.length);
        uncollected += links.length;
        if (uncollected < LINKS_PER_COLLECTION) continue;
        uncollected = 0;
        Bun.gc(true);
      }
    }

    const countKey = createKeyCounts();
    const keyIn = ({ file }: State, { spelling }: Entry) => `${file.nth} ${keyOf?.(spelling)}`;
    if (keyOf !== undefined)
      await each(true, (state, entry) => {
        state.entries++;
        countKey(keyIn(state, entry), 1);
        return undefined;
      });
    const maxEntries = Math.max(...states.map(({ entries }) => entries));
    for (const state of states)
      state.pending = format.start?.(state.file, { maxEntries, nowMs: options.nowMs }) ?? "";
    const held = new Map<string, { readonly state: State; readonly entries: [Entry, ...Entry[]] }>();
    await each(keyOf === undefined, (state, entry) => {
      const key = keyOf && keyIn(state, entry);
      if (key === undefined || countKey(key, 0) < 2) return write(state, [entry]);
      const same = held.get(key);
      if (same === undefined) held.set(key, { state, entries: [entry] });
      else same.entries.push(entry);
      return undefined;
    });
    for (const { state, entries } of held.values()) await write(state, entries);
  });
  for (const state of states) {
    state.pending += format.end?.(state.file, codeCase) ?? "";
    await flush(state);
  }
  return { written: states.map(({ links }) => links), leftOut, losingQuery, losingPath, codeCase };
}

/** For a reader that ignores some capitals: each of its spellings once. */
function spellingsIgnoring(
  fold: (spelling: string) => string,
  code: string,
  stored: string,
): readonly string[] {
  const typed = typedCapitals(code).filter((one) => lookUpCode(one, "ignore") === stored);
  const all = [...spellingsOf(code, stored), ...typed.flatMap((one) => spellingsOf(one))];
  // The last of a Map's equal keys wins, and leaving a link out counts its code.
  return [...new Map(all.toReversed().map((spelling) => [fold(spelling), spelling])).values()];
}

/** Counts keys up to 2, some of them too high, with two bits per hash. */
function createKeyCounts() {
  const counts = new Uint8Array(HASHES / 4);
  return (key: string, add: 0 | 1): number => {
    const hash = Bun.hash.xxHash32(key) % HASHES;
    const [at, shift] = [hash >>> 2, (hash & 3) * 2];
    const before = (counts[at] ?? 0) >> shift;
    const count = Math.min(2, (before & 3) + add);
    counts[at] = (counts[at] ?? 0) + ((count - (before & 3)) << shift);
    return count;
  };
}
