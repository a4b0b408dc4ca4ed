import regexes from "tr46/lib/regexes.js";

import { hasMoreMarks } from "./marks.ts";
import { codePointName, type Invalid, invalid, isProblem, type Refusal, showCharacter } from "./problem.ts";

/**
 * A code as it is stored, compared and looked up: NFC without U+FE0F, 1 to {@link MAX_CODE_POINTS} code points, with "ignore"
 * folded.
 */
export type Code = string & { readonly __brand: "Code" };

/** Whether codes that differ only in capitals are different codes. A store keeps its first choice. */
export type CodeCase = "match" | "ignore";

/** Stores have keys instead of codes, because domains may have the same ones. {@link keyOf} creates them. */
export type LinkKey = string & { readonly __brand: "LinkKey" };

export const MAX_CODE_POINTS = 64;

/** Whole codes. The list is final: any other route starts with a segment that no code can be. */
const RESERVED_CODES: readonly string[] = ["api", "docs", "admin", "metrics", "livez", "readyz"];

/** Never allowed in a code, so that routes can start with a segment that has one of them. */
export const NEVER_IN_CODES = /[+.]/;

/** No 0 O 1 l I, which look alike, and no vowels, so that no word comes out. `mask`: the low bits that count up to them. */
const ALPHABETS: Readonly<Record<CodeCase, { readonly characters: string; readonly mask: number }>> = {
  match: { characters: "23456789bcdfghjkmnpqrstvwxyzBCDFGHJKLMNPQRSTVWXYZ", mask: 63 },
  ignore: { characters: "23456789bcdfghjkmnpqrstvwxyz", mask: 31 },
};

/** In UTF-16 units. A decomposed code point takes up to six, and an emoji with its U+FE0F takes three. */
const MAX_SPELLING_LENGTH = MAX_CODE_POINTS * 8;

const TOO_LONG = { rule: "code.too-long", max: MAX_CODE_POINTS } as const;

const ZWNJ = "\u200C";
const ZWJ = "\u200D";
const VARIATION_SELECTOR_16 = /\uFE0F/g;
/** U+FE0F anywhere but after an emoji; after a digit, # or * only in a keycap. */
const STRAY_SELECTOR = /(?<!\p{Emoji})\uFE0F|(?<=[0-9#*])\uFE0F(?!\u20E3)/u;
/** Where a fully-qualified emoji carries U+FE0F (UTS #51, ED-12 and ED-15a); keycap bases only before U+20E3. */
const UNQUALIFIED =
  /(?![0-9#*](?!\u20E3))[\p{Emoji}--\p{Emoji_Presentation}](?!(?<=\p{Emoji_Modifier_Base})\p{Emoji_Modifier})/gv;
const EMOJI = /\p{RGI_Emoji}/vy;
const BASE = /^[\p{L}\p{N}_-]$/u;
const MARK = /^\p{M}$/u;
const INVISIBLE = /^[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Cc}\p{Z}\u2800\u{13441}\u{13442}]$/u;

/**
 * Parses a code that a maker chose. It may have letters, marks and numbers of any script, `-`, `_`, and every RGI emoji
 * sequence with or without its U+FE0F. A code is never altered. NFKC is no filter, because it would refuse ㅋㅋㅋ.
 */
export function parseCode(written: string, codeCase: CodeCase): Code | Invalid {
  // Most codes are plain, and need no grammar.
  if (isPlain(written)) {
    const plain = (codeCase === "match" ? written : written.toLowerCase()) as Code;
    const reserved = reservedRefusal(plain);
    return reserved === undefined ? plain : invalid(reserved);
  }
  if (written.length > MAX_SPELLING_LENGTH) return invalid(TOO_LONG);
  if (!written.isWellFormed()) return invalid({ rule: "code.ill-formed" });
  const code = toCode(written, codeCase);
  if (code === undefined) return invalid(TOO_LONG);
  const refusal = grammarRefusal(written, normalize(written)) ?? reservedRefusal(code);
  return refusal === undefined ? code : invalid(refusal);
}

/**
 * The code for a spelling in an address, or undefined if it can't be one. The grammar isn't checked, so that a link
 * still resolves when a later Unicode version would refuse its code.
 */
export function lookUpCode(spelling: string, codeCase: CodeCase): Code | undefined {
  if ((codeCase === "match" ? PLAIN : PLAIN_FOLDED).test(spelling)) return spelling as Code;
  if (!spelling.isWellFormed()) return undefined;
  return toCode(spelling, codeCase) || undefined;
}

/** The code as its maker wrote it, for a code that was folded. Undefined if they are the same. */
export function capitalsOf(written: string, code: Code): string | undefined {
  if (written === code) return undefined;
  const normalized = normalize(written);
  return normalized === code ? undefined : normalized;
}

/** The key of a domain's code. `keyPrefix`: see `Domain`. */
export function keyOf(keyPrefix: string, code: Code): LinkKey {
  return (keyPrefix + code) as LinkKey;
}

/** The same for a spelling of both, as the operator writes it. */
export function lookUpKey(spelling: string, codeCase: CodeCase): LinkKey | undefined {
  if (!spelling.isWellFormed()) return undefined;
  const { keyPrefix, code } = splitKey(spelling as LinkKey);
  const normalized = lookUpCode(code, codeCase);
  return normalized === undefined ? undefined : keyOf(keyPrefix, normalized);
}

/** Splits a key into its domain's prefix and the code that people see. */
export function splitKey(key: LinkKey): { readonly keyPrefix: string; readonly code: Code } {
  const at = key.indexOf("/") + 1;
  return { keyPrefix: key.slice(0, at), code: key.slice(at) as Code };
}

/**
 * A code as addresses show it, readable. # is the only character of codes that would end the path. Odd codes of other shorteners
 * may have others, and some that chat rooms or terminals act on.
 */
export function codeInAddress(code: string): string {
  if (isPlain(code)) return code;
  return isProblem(parseCode(code, "match")) ? encodeURIComponent(code) : code.replaceAll("#", "%23");
}

/**
 * How addresses may spell a code: as its maker wrote it, as it is stored, decomposed, and with each U+FE0F that keyboards add to
 * emoji.
 */
export function spellingsOf(code: string, stored = code): readonly string[] {
  if (isPlain(code) && stored === code) return [code];
  const spell = (one: string) => [one, one.normalize("NFD"), one.replace(UNQUALIFIED, "$&\uFE0F")];
  return [...new Set([...spell(code), ...spell(stored)])];
}

/** Reused: new memory would cost as much as filling it. */
const RANDOM = new Uint8Array(16);

/** A code of `length` random characters, without bias. `fill` fills an array with random bytes (a CSPRNG). */
export function generateCode(length: number, codeCase: CodeCase, fill: (bytes: Uint8Array) => void): Code {
  const { characters, mask } = ALPHABETS[codeCase];
  let code = "";
  while (code.length < length) {
    fill(RANDOM);
    for (let at = 0; at < RANDOM.length && code.length < length; at++)
      // Values beyond the alphabet are drawn again.
      code += characters[(RANDOM[at] ?? 0) & mask] ?? "";
  }
  return code as Code;
}

/** How many codes of this length there are. */
export function codeSpace(length: number, codeCase: CodeCase): number {
  return ALPHABETS[codeCase].characters.length ** length;
}

/** Undefined if it would be too long. */
function toCode(spelling: string, codeCase: CodeCase): Code | undefined {
  if (spelling.length > MAX_SPELLING_LENGTH) return undefined;
  if (hasMoreMarks(spelling.replace(VARIATION_SELECTOR_16, ""), MAX_CODE_POINTS)) return undefined;
  const normalized = normalize(spelling);
  const code = codeCase === "match" ? normalized : foldCase(normalized);
  return Array.from(code).length <= MAX_CODE_POINTS ? (code as Code) : undefined;
}

/** U+FE0F is removed first, because it may separate characters that compose. */
function normalize(spelling: string): string {
  return spelling.replace(VARIATION_SELECTOR_16, "").normalize("NFC");
}

/**
 * Full case folding (The Unicode Standard, section 3.13): characters are equal if their whole mappings are. Cherokee folds to its
 * small letters here. Dotless ı has no case of its own, and only the end of a word turns σ into ς.
 */
function foldCase(text: string): string {
  const parts = text.split("ı").map((part) => part.toLowerCase().toUpperCase().toLowerCase());
  return parts.join("ı").replaceAll("ς", "σ").normalize("NFC");
}

const PLAIN = /^[\w-]{1,64}$/;
const PLAIN_FOLDED = /^[a-z\d_-]{1,64}$/;

/** Whether a spelling is a code by any rule but {@link RESERVED_CODES}, as is or folded. */
export function isPlain(spelling: string): boolean {
  return PLAIN.test(spelling);
}

function reservedRefusal(code: Code): Refusal | undefined {
  // Full case folding, for these words: ſ folds to s, dotless ı stays itself.
  const folded = code.toLowerCase().replaceAll("ſ", "s");
  return RESERVED_CODES.includes(folded) ? { rule: "code.reserved", code: folded } : undefined;
}

/** Checks the code with each emoji in its fully-qualified form, the only one that \p{RGI_Emoji} matches. */
function grammarRefusal(written: string, code: string): Refusal | undefined {
  if (STRAY_SELECTOR.test(written)) return { rule: "code.invisible", character: "U+FE0F" };
  const text = code.replace(UNQUALIFIED, "$&\uFE0F");
  let mayTakeMark = false;
  for (let at = 0; at < text.length;) {
    EMOJI.lastIndex = at;
    const emoji = EMOJI.exec(text)?.[0];
    if (emoji !== undefined) {
      at += emoji.length;
      mayTakeMark = true;
      continue;
    }
    const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
    if (character === ZWNJ || character === ZWJ) {
      if (!joinerAllowed(text, at)) return { rule: "code.joiner", character: codePointName(character) };
      mayTakeMark = false;
    } else if (character === " ") {
      return { rule: "code.space" };
    } else if (INVISIBLE.test(character)) {
      return { rule: "code.invisible", character: codePointName(character) };
    } else if (MARK.test(character)) {
      if (!mayTakeMark) return { rule: "code.mark", character: codePointName(character) };
    } else if (BASE.test(character)) {
      mayTakeMark = true;
    } else {
      return { rule: "code.character", character: showCharacter(character) };
    }
    at += character.length;
  }
  return undefined;
}

/** RFC 5892, appendix A.1 and A.2: after a virama, or (ZWNJ only) between letters that join across it. */
function joinerAllowed(text: string, at: number): boolean {
  const before = Array.from(text.slice(0, at)).at(-1);
  if (before !== undefined && regexes.combiningClassVirama.test(before)) return true;
  if (text[at] !== ZWNJ) return false;
  const next = text.indexOf(ZWNJ, at + 1);
  const alone = text.slice(at === 0 ? 0 : text.lastIndexOf(ZWNJ, at - 1) + 1, next < 0 ? undefined : next);
  return regexes.validZWNJ.test(alone);
}
