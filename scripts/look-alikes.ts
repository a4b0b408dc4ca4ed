// `npm run look-alikes FOLDER`: prints the tables in `src/pages/shared/look-alikes.ts` from Unicode's data: confusables.txt and
// IdentifierStatus.txt of https://www.unicode.org/Public/17.0.0/security/
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The scripts in which `src/pages/shared/destination-parts.ts` shows hosts. */
const SCRIPTS = "Arab Armn Beng Bopo Cyrl Deva Ethi Geor Grek Hang Hani Hebr Hira Kana Latn Taml Thai".split(
  " ",
);
const LAST_LETTER = 0x3ffff;

const [folder = "."] = process.argv.slice(2);
const pairs = [...read("confusables.txt").matchAll(/^([0-9A-F]+) ;\t([0-9A-F ]+) ;\tMA/gm)].map(
  ([, source = "", target = ""]) => ({
    letter: decode(source),
    skeleton: decode(target),
  }),
);
const allowed = new Set<number>();
for (const [, first = "", last = first] of read("IdentifierStatus.txt").matchAll(
  /^([0-9A-F]+)(?:\.\.([0-9A-F]+))?\s*;\s*Allowed/gm,
))
  for (let code = Number.parseInt(first, 16); code <= Number.parseInt(last, 16); code++) allowed.add(code);

console.log("LOOK_ALIKES");
for (const script of SCRIPTS) {
  const isLatin = script === "Latn";
  // Hosts are in lower case and in NFC, and marks are taken off before letters are compared.
  const isOfScript = new RegExp(`^[\\p{scx=${script}}&&[\\p{L}--\\p{Lm}]]$`, "v");
  const letters = pairs
    .filter(({ letter, skeleton }) =>
      // Latin ligatures such as "æ" are unambiguous.
      isLatin
        ? allowed.has(letter.codePointAt(0) ?? 0) && /^[a-z0-9]$/i.test(skeleton) && letter > "\x7f"
        : /^[a-z0-9]+$/i.test(skeleton),
    )
    .filter(({ letter }) => isOfScript.test(letter))
    .map(({ letter }) => letter)
    .filter((letter) => letter === letter.toLowerCase() && letter === letter.normalize("NFKD"))
    .toSorted();
  if (letters.length > 0) console.log(`  ${script}: "${letters.join("")}",`);
}

console.log("UNUSUAL");
// Tens of thousands of Chinese characters are rare, and none looks like another letter.
for (const script of SCRIPTS.filter((one) => one !== "Hani")) {
  const ranges = unusualOf(script);
  if (ranges.length > 0) console.log(`  ${script}: "${ranges.join("")}",`);
}

/** The letters of a script that no identifier should have, as ranges. Between two of them are none of its other letters. */
function unusualOf(script: string): string[] {
  const isOfScript = new RegExp(`^[\\p{scx=${script}}&&[\\p{L}--\\p{Lm}]]$`, "v");
  const ranges: [number, number][] = [];
  let isOpen = false;
  for (let code = 0x80; code <= LAST_LETTER; code++) {
    const letter = String.fromCodePoint(code);
    if (!isOfScript.test(letter) || letter !== letter.toLowerCase() || letter !== letter.normalize("NFKC"))
      continue;
    const range = ranges.at(-1);
    if (allowed.has(code)) isOpen = false;
    else if (isOpen && range !== undefined) range[1] = code;
    else {
      ranges.push([code, code]);
      isOpen = true;
    }
  }
  return ranges.map(([first, last]) => (first === last ? escape(first) : `${escape(first)}-${escape(last)}`));
}

function escape(code: number): string {
  return `\\\\u{${code.toString(16).toUpperCase()}}`;
}

function read(name: string): string {
  return readFileSync(join(folder, name), "utf8");
}

function decode(codePoints: string): string {
  return String.fromCodePoint(
    ...codePoints.split(" ").map((hexadecimal) => Number.parseInt(hexadecimal, 16)),
  );
}
