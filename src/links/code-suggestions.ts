import { type Code, lookUpCode, parseCode } from "./code.ts";
import { isProblem } from "./problem.ts";

const MOST = 3;
const LAST_SUFFIX = 9;

/** Up to three codes like one that is taken. Asks about eight at most. */
export async function suggestFreeCodes(
  code: Code,
  isFree: (code: Code) => Promise<boolean>,
): Promise<Code[]> {
  const free: Code[] = [];
  for (let suffix = 2; suffix <= LAST_SUFFIX && free.length < MOST; suffix++) {
    const variant = parseCode(`${code}-${suffix}`);
    if (!isProblem(variant) && (await isFree(variant))) free.push(variant);
  }
  return free;
}

/** Longer than any code and what is glued to it. In UTF-16 units. */
const MAX_READ = 1024;
/** What no code can have: all but letters, marks, numbers, `-`, `_` and emoji. `#` and `*` are part of a keycap only. */
const OUTSIDE =
  /[^\p{L}\p{M}\p{N}\p{Emoji}\p{Emoji_Component}\u200C_\-]|[#*](?!\uFE0F?\u20E3)|[\p{L}&&\p{Default_Ignorable_Code_Point}]/v;
/** A particle or a word in a script without spaces before it, or the marks that some chats write for italics. */
const ENDING =
  /(?<=^[A-Za-z\d][\w\-]*)(?:[_\-]+|[\p{Script=Hangul}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+)$/v;

/**
 * The codes that somebody may have meant with an address that leads nowhere, at most two: what is left without the full
 * stop, bracket, quotation mark or sentence that a chat took for a part of it. Never a code that is only similar, which would
 * tell strangers what there is.
 */
export function suggestIntendedCodes(written: string): readonly Code[] {
  const itself = lookUpCode(written);
  const part = written
    .slice(0, MAX_READ)
    .split(OUTSIDE)
    .find((one) => one !== "");
  if (part === undefined) return [];
  const codes = new Set([part, part.replace(ENDING, "")].map(parseCode));
  return [...codes].filter((code) => !isProblem(code) && code !== itself) as Code[];
}
