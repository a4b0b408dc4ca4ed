/** The addresses that a pasted text may contain. */
export interface PastedText {
  /** Set if there is exactly one. */
  readonly address?: string;
  /** Candidates if the address is ambiguous. */
  readonly offers: readonly string[];
}

/** In UTF-16 units, as long as an address may be. */
const MAX_LENGTH = 8192;
const MAX_OFFERS = 3;
/** Words of a text that may be addresses without a scheme. Parsing each takes as long as a tenth of a redirect. */
const MAX_WORDS = 200;
/** With a scheme, or one that lost a colon or a slash: http//, https:/, https:. */
const ADDRESS = /(https?)(?::\/\/|:\/|\/\/|:)(?=[^\s/])\S+/gi;
const PREFIX = /^(https?)(?::\/\/|:\/|\/\/|:)/i;
/** Punctuation after an address in English, Japanese or Korean. */
const BEHIND = /[.,;:!?'"*…。，、！？：；”’»」』）】〉》>]/u;
const BRACKETS = new Map([
  [")", "("],
  ["]", "["],
  ["}", "{"],
]);

/** Finds the address in a text: with a scheme, with a broken one, without one, or inside a sentence. */
export function readPasted(input: string): PastedText {
  const text = input.trim();
  // Its end is missing, and could be that of the address.
  if (text.length > MAX_LENGTH) return { offers: [] };
  const matches = [...text.matchAll(ADDRESS)].map(([match]) => match);
  const [first] = matches;
  if (first === undefined) return readNames(text);
  // After an address at the start, a space may belong to it or end it.
  if (text.startsWith(first) && text !== first && PREFIX.exec(text)?.[0].endsWith("://"))
    return { offers: unique([...matches.map(inText), text]) };
  if (text === first) return { address: withScheme(text), offers: [] };
  const addresses = unique(matches.map(inText));
  const [only] = addresses;
  return addresses.length === 1 && only !== undefined ? { address: only, offers: [] } : { offers: addresses };
}

function withScheme(address: string): string {
  return PREFIX.exec(address)?.[0].endsWith("://") ? address : address.replace(PREFIX, "$1://");
}

/** Removes the sentence's punctuation, and brackets that close nothing in the address. */
function inText(address: string): string {
  const unopened = new Map(
    [...BRACKETS].map(([close, open]) => [close, count(address, close) - count(address, open)]),
  );
  let end = address.length;
  for (; end > 0; end--) {
    const last = address.charAt(end - 1);
    const excess = unopened.get(last) ?? 0;
    if (!BEHIND.test(last) && excess <= 0) break;
    if (unopened.has(last)) unopened.set(last, excess - 1);
  }
  return withScheme(address.slice(0, end));
}

function count(text: string, character: string): number {
  let times = 0;
  for (let at = text.indexOf(character); at >= 0; at = text.indexOf(character, at + 1)) times++;
  return times;
}

/** People write naver.com for https://naver.com. */
function readNames(text: string): PastedText {
  const whole = hostAddress(text);
  if (whole !== undefined) return { address: whole, offers: [] };
  const words = text.split(/\s+/, MAX_WORDS);
  if (words.length === 1) return { offers: [] };
  return { offers: unique(words.flatMap((word) => hostAddress(inText(word)) ?? [])) };
}

/** Hosts that end in a number are mistakes or private. */
function hostAddress(text: string): string | undefined {
  const [, host = ""] = /^([^\s/?#:@\\]{1,253})(?::\d{1,5})?(?:[/?#]|$)/.exec(text) ?? [];
  if (!/.\.[^.]{2,}$/.test(host) || /\s/.test(text)) return undefined;
  const address = `https://${text}`;
  const name = URL.parse(address)?.hostname ?? "";
  return /[a-z]/.test(name.slice(name.lastIndexOf(".") + 1)) ? address : undefined;
}

function unique(addresses: readonly string[]): string[] {
  return [...new Set(addresses)].slice(0, MAX_OFFERS);
}
