import { once } from "../../lib/memoize.ts";

/**
 * Letters that look like ASCII letters or digits, by script. From Unicode's confusables.txt 17.0.0 (UTS #39; © 2025
 * Unicode, Inc., licence Unicode-3.0), printed by `scripts/look-alikes.ts`.
 */
const LOOK_ALIKES = {
  Arab: "اهھہە",
  Armn: "ագզհոռսցւքօ",
  Cyrl: "абгеорсухшѕіјѡѵүһҽӏӕԁԛԝꙇꚙ",
  Ethi: "ሀዐ",
  Geor: "ყჿ",
  Grek: "αγινορσυϳϸᴦ",
  Hebr: "וטןסװ",
};

const lookAlike = once(() => new RegExp(`[${Object.values(LOOK_ALIKES).join("")}]`, "v"));

const scripts = once(() =>
  Object.entries(LOOK_ALIKES).map(([script, letters]) => ({
    imitation: new RegExp(`(?:^|\\.)[0-9\\-]*[${letters}][${letters}0-9\\-]*(?:\\.|$)`, "v"),
    topLevel: new RegExp(`\\p{scx=${script}}[^.]*$`, "v"),
    distinctLetter: new RegExp(`[[\\p{scx=${script}}&&\\p{L}]--[${letters}]]`, "v"),
  })),
);

/** Whether any letter looks like an ASCII one. */
export function hasLookAlikes(host: string): boolean {
  return lookAlike().test(withoutMarks(host));
}

/**
 * Whether all letters of a label look like ASCII, in a host whose labels have one script each. A top-level domain of the
 * same script has no ASCII names to imitate, so its names pass if any letter shows the script.
 */
export function imitatesAscii(host: string): boolean {
  const bare = withoutMarks(host);
  return scripts().some(
    ({ imitation, topLevel, distinctLetter }) =>
      imitation.test(bare) && !(topLevel.test(bare) && distinctLetter.test(bare)),
  );
}

/** Accents are easily overlooked. */
function withoutMarks(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "");
}
