import { once } from "../../lib/memoize.ts";

// From Unicode 17.0.0 (UTS #39; © 2025 Unicode, Inc., licence Unicode-3.0), printed by `scripts/look-alikes.ts`.

/** Letters that look like ASCII letters or digits, by script (confusables.txt). Latin ones only if they are usual. */
const LOOK_ALIKES = {
  Arab: "اهھہە",
  Armn: "ագզհոռսցւքօ",
  Cyrl: "абгеорсухшѕіјѡѵүһҽӏӕԁԛԝꙇꚙ",
  Ethi: "ሀዐ",
  Geor: "ყჿ",
  Grek: "αγινορσυϳϸᴦ",
  Hebr: "וטןסװ",
  Latn: "þıƒɣɩʋ",
};

/** Letters that no identifier should have, by script (IdentifierStatus.txt). */
const UNUSUAL: Readonly<Record<string, string>> = {
  Arab: "\\u{63B}-\\u{63C}\\u{63E}-\\u{63F}\\u{66E}-\\u{671}\\u{673}\\u{690}\\u{69B}-\\u{69E}\\u{6A1}\\u{6A3}\\u{6AC}\\u{6B2}\\u{6B4}\\u{6B8}-\\u{6B9}\\u{6BF}\\u{6FA}-\\u{6FC}\\u{750}\\u{753}-\\u{755}\\u{757}-\\u{75F}\\u{761}\\u{764}-\\u{765}\\u{769}\\u{76B}-\\u{76D}\\u{772}-\\u{88E}\\u{8A1}\\u{8AA}-\\u{8BA}\\u{8C3}-\\u{8C6}\\u{8C8}-\\u{10EC7}",
  Armn: "\\u{560}\\u{588}",
  Beng: "\\u{980}\\u{98C}\\u{9BD}\\u{9E0}-\\u{9E1}\\u{9FC}-\\u{1CF6}",
  Bopo: "\\u{3105}-\\u{31BF}",
  Cyrl: "\\u{450}\\u{45D}\\u{461}-\\u{48F}\\u{49D}\\u{4A7}\\u{4B9}\\u{4C2}-\\u{4CE}\\u{4DB}\\u{4EB}-\\u{4ED}\\u{4F7}\\u{4FB}-\\u{523}\\u{527}-\\u{A69B}",
  Deva: "\\u{904}\\u{90C}\\u{929}\\u{934}\\u{93D}-\\u{961}\\u{978}-\\u{97A}\\u{97D}\\u{1CE9}-\\u{A8FE}",
  Ethi: "\\u{1207}\\u{1287}\\u{12AF}\\u{12F8}-\\u{12FF}\\u{130F}\\u{131F}\\u{1347}\\u{135A}-\\u{AB2E}",
  Geor: "\\u{10F1}-\\u{2D2D}",
  Grek: "\\u{371}-\\u{37D}\\u{3D7}-\\u{1F97}\\u{1FB0}-\\u{1FB1}\\u{1FB6}-\\u{AB65}",
  Hang: "\\u{1100}-\\u{A97C}\\u{D7B0}-\\u{D7FB}",
  Hebr: "\\u{5EF}-\\u{5F2}",
  Hira: "\\u{303C}\\u{1B001}-\\u{1B152}",
  Kana: "\\u{303C}\\u{31F0}-\\u{1B167}",
  Latn: "\\u{115}\\u{12D}\\u{138}\\u{14F}\\u{157}\\u{163}\\u{180}-\\u{18D}\\u{195}\\u{19A}-\\u{19E}\\u{1A3}-\\u{1AD}\\u{1B6}-\\u{1C3}\\u{1D6}-\\u{1DC}\\u{1DF}-\\u{1E5}\\u{1EB}-\\u{1ED}\\u{1F0}-\\u{1F5}\\u{1FB}-\\u{217}\\u{21D}-\\u{24B}\\u{24F}-\\u{252}\\u{255}\\u{258}\\u{25A}\\u{25C}-\\u{262}\\u{264}-\\u{267}\\u{26A}-\\u{271}\\u{273}-\\u{288}\\u{28A}\\u{28C}-\\u{291}\\u{293}-\\u{1E0B}\\u{1E0F}-\\u{1E11}\\u{1E15}-\\u{1E1F}\\u{1E23}\\u{1E27}-\\u{1E35}\\u{1E39}-\\u{1E3B}\\u{1E41}\\u{1E4D}-\\u{1E59}\\u{1E5D}-\\u{1E61}\\u{1E65}-\\u{1E6B}\\u{1E6F}\\u{1E73}-\\u{1E8B}\\u{1E8F}-\\u{1E91}\\u{1E95}-\\u{1E9F}\\u{1EFB}-\\u{1DF2A}",
  Taml: "\\u{BD0}-\\u{A8F3}",
};

/** The top-level domains of languages that use a Latin look-alike. People there recognize it. */
const AT_HOME = { ı: "tr|az", þ: "is" };

const suspicious = once(
  () => new RegExp(`[${Object.values(LOOK_ALIKES).join("")}[\\p{scx=Latn}&&[${UNUSUAL["Latn"]}]]]`, "v"),
);

const { Latn: LATIN, ...OTHERS } = LOOK_ALIKES;
const scripts = once(() =>
  Object.entries(OTHERS).map(([script, letters]) => ({
    imitation: labelOf(letters, ""),
    topLevel: new RegExp(`\\p{scx=${script}}[^.]*$`, "v"),
    distinctLetter: new RegExp(`[[\\p{scx=${script}}&&\\p{L}]--[${letters}]]`, "v"),
  })),
);
const latinImitation = once(() => labelOf(LATIN, "a-z"));
const atHome = once(() =>
  Object.entries(AT_HOME).map(([letter, endings]) => ({ letter, ending: new RegExp(`\\.(?:${endings})$`) })),
);

/** A label with one of these letters, and with no others than those, `more`, digits and hyphens. */
function labelOf(letters: string, more: string): RegExp {
  const rest = `${more}0-9\\-`;
  return new RegExp(`(?:^|\\.)[${rest}]*[${letters}][${letters}${rest}]*(?:\\.|$)`, "v");
}

/**
 * The letters of scripts, for the inside of a class. Letters that no identifier should have (UTS #39, section 3.1) are
 * missing.
 */
export function usualLetters(...names: readonly string[]): string {
  return names
    .map((script) => {
      const unusual = UNUSUAL[script];
      const letters = `[\\p{scx=${script}}&&\\p{L}]`;
      return unusual === undefined ? letters : `[${letters}--[${unusual}]]`;
    })
    .join("");
}

/** Whether any letter looks like an ASCII one, or is a Latin one that hardly anybody knows. */
export function hasLookAlikes(host: string): boolean {
  return suspicious().test(host) || suspicious().test(withoutMarks(host));
}

/**
 * Whether all letters of a label look like ASCII, in a host whose labels have one script each. A top-level domain of the
 * same script has no ASCII names to imitate, so its names pass if any letter shows the script.
 */
export function imitatesAscii(host: string): boolean {
  const bare = withoutMarks(host);
  return (
    imitatesInLatin(host) ||
    scripts().some(
      ({ imitation, topLevel, distinctLetter }) =>
        imitation.test(bare) && !(topLevel.test(bare) && distinctLetter.test(bare)),
    )
  );
}

/** Marks count here: "mıcrosoft" is read as ASCII, "sığınak" isn't. */
function imitatesInLatin(host: string): boolean {
  const foreign = atHome().reduce(
    (text, { letter, ending }) => (ending.test(host) ? text.replaceAll(letter, "") : text),
    host,
  );
  return latinImitation().test(foreign);
}

/** Accents are easily overlooked. */
function withoutMarks(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "");
}
