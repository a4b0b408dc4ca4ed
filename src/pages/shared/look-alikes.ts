import { once } from "../../lib/memoize.ts";

/**
 * By script, the letters that look like letters or digits of ASCII, from Unicode's confusables.txt 17.0.0 (UTS #39;
 * © 2025 Unicode, Inc., licence Unicode-3.0). `scripts/look-alikes.ts` makes this table.
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

/** Whether any letter could be taken for one of ASCII. */
export function hasLookAlikes(host: string): boolean {
  return lookAlike().test(withoutMarks(host));
}

/**
 * Whether all letters of a label could be taken for ASCII, in a host whose labels are of one script each. A top-level
 * domain of the same script has no names in ASCII that could be imitated, so its names pass if any letter of the host
 * shows which script it is.
 */
export function imitatesAscii(host: string): boolean {
  const bare = withoutMarks(host);
  return scripts().some(
    ({ imitation, topLevel, distinctLetter }) =>
      imitation.test(bare) && !(topLevel.test(bare) && distinctLetter.test(bare)),
  );
}

/** An accent is easily overlooked. */
function withoutMarks(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "");
}
