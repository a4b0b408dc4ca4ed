// `npm run look-alikes < confusables.txt`: prints the table in `src/pages/shared/look-alikes.ts` from Unicode's data, which is at
// https://www.unicode.org/Public/17.0.0/security/confusables.txt
import { text } from "node:stream/consumers";

/** The scripts, except Latin, of which `src/pages/shared/destination-parts.ts` shows hosts. */
const SCRIPTS = "Arab Armn Beng Bopo Cyrl Deva Ethi Geor Grek Hang Hani Hebr Hira Kana Taml Thai".split(" ");

const data = await text(process.stdin);
const pairs = [...data.matchAll(/^([0-9A-F]+) ;\t([0-9A-F ]+) ;\tMA/gm)].map(
  ([, source = "", target = ""]) => ({
    letter: decode(source),
    skeleton: decode(target),
  }),
);
for (const script of SCRIPTS) {
  // Hosts are in lower case and in NFC, and marks are taken off before letters are compared.
  const isOfScript = new RegExp(`^[\\p{scx=${script}}&&[\\p{L}--\\p{Lm}]]$`, "v");
  const letters = pairs
    .filter(({ letter, skeleton }) => isOfScript.test(letter) && /^[a-z0-9]+$/i.test(skeleton))
    .map(({ letter }) => letter)
    .filter((letter) => letter === letter.toLowerCase() && letter === letter.normalize("NFKD"))
    .toSorted();
  if (letters.length > 0) console.log(`  ${script}: "${letters.join("")}",`);
}

function decode(codePoints: string): string {
  return String.fromCodePoint(
    ...codePoints.split(" ").map((hexadecimal) => Number.parseInt(hexadecimal, 16)),
  );
}
