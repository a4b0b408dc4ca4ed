import { type Code, type CodeCase, isPlain, lookUpCode, parseCode } from "./code.ts";
import { isProblem } from "./problem.ts";

export const MAX_SUGGESTIONS = 3;
const LAST_SUFFIX = 9;
/** In UTF-16 units. Longer than any code and what is glued to it. */
const MAX_SPELLING_LENGTH = 1024;
/** Not in any code: all but letters, marks, numbers, `-`, `_` and emoji. `#` and `*` only occur in keycaps. */
const OUTSIDE =
  /[^\p{L}\p{M}\p{N}\p{Emoji}\p{Emoji_Component}\u200C_\-]|[#*](?!\uFE0F?\u20E3)|[\p{L}&&\p{Default_Ignorable_Code_Point}]/v;
/** A particle or a word in a script without spaces, or the marks that some chats write for italics. */
const ENDING =
  /(?<=^[A-Za-z\d][\w\-]*)(?:[_\-]+|[\p{Script=Hangul}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+)$/v;

/** A Korean particle, which is written without a space after a word in the same script. */
const PARTICLE =
  /(?<=\p{Script=Hangul}{2})(?:은|는|이|가|을|를|과|와|의|도|만|에|에서|에게|로|으로|입니다|이에요|예요)$/u;

const NONE: readonly never[] = [];

/** Suggests up to three free codes similar to a taken one. Calls `isFree` at most eight times. */
export async function suggestFreeCodes(
  code: Code,
  codeCase: CodeCase,
  isFree: (code: Code) => Promise<boolean>,
): Promise<Code[]> {
  const free: Code[] = [];
  for (let suffix = 2; suffix <= LAST_SUFFIX && free.length < MAX_SUGGESTIONS; suffix++) {
    const variant = parseCode(`${code}-${suffix}`, codeCase);
    if (!isProblem(variant) && (await isFree(variant))) free.push(variant);
  }
  return free;
}

/** A code in small letters, with a capital at its start, and in capitals, as people type it from memory. */
export function typedCapitals(code: string): readonly string[] {
  const lower = code.toLowerCase();
  const [first = ""] = lower;
  return [lower, first.toUpperCase() + lower.slice(first.length), lower.toUpperCase()];
}

/**
 * The same code in the capitals of {@link typedCapitals}. Other capitals
 * would need an index, which would help to guess codes.
 */
export function inOtherCapitals(written: string, codeCase: CodeCase): readonly Code[] {
  const itself = codeCase === "match" ? parseCode(written, codeCase) : undefined;
  if (itself === undefined || isProblem(itself)) return NONE;
  const codes = [...new Set(typedCapitals(itself))].map((spelling) => lookUpCode(spelling, codeCase));
  return codes.filter((code) => code !== undefined && code !== itself) as Code[];
}

/**
 * Suggests at most two codes that an address without a link may mean. They lack the full stop, bracket, quotation mark or
 * sentence that a chat took for a part of the address. Never a merely similar code, which would reveal other links.
 */
export function suggestIntendedCodes(written: string, codeCase: CodeCase): readonly Code[] {
  // Nothing can be glued to a plain code but a dash or an underscore.
  if (isPlain(written) && !ENDING.test(written)) return NONE;
  const itself = lookUpCode(written, codeCase);
  const part = written
    .slice(0, MAX_SPELLING_LENGTH)
    .split(OUTSIDE)
    .find((one) => one !== "");
  if (part === undefined) return [];
  const parts = [part, part.replace(ENDING, "").replace(PARTICLE, "")];
  const codes = new Set(parts.map((one) => parseCode(one, codeCase)));
  return [...codes].filter((code) => !isProblem(code) && code !== itself) as Code[];
}
