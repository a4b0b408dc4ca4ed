/** The addresses that a pasted text may contain. */
export interface PastedText {
  /** Set if there is exactly one. */
  readonly address?: string;
  /** Candidates if the address is ambiguous. */
  readonly offers: readonly string[];
}

const MAX_OFFERS = 3;
/** With a scheme, or one that lost a colon or a slash: http//, https:/, https:. */
const ADDRESS = /(https?)(?::\/\/|:\/|\/\/|:)(?=[^\s/])\S+/gi;
const PREFIX = /^(https?)(?::\/\/|:\/|\/\/|:)/i;
/** Punctuation after an address in English, Japanese or Korean. */
const BEHIND = /[.,;:!?'"*…。，、！？：；”’»」』）】〉》>]$/u;
const BRACKETS = { ")": "(", "]": "[", "}": "{" } as const;

/** Finds the address in a text: with a scheme, with a broken one, without one, or inside a sentence. */
export function readPasted(input: string): PastedText {
  const text = input.trim();
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

/** Removes the sentence's punctuation. */
function inText(address: string): string {
  const last = address.at(-1) ?? "";
  const opening = BRACKETS[last as keyof typeof BRACKETS] as string | undefined;
  const isUnopened = opening !== undefined && address.split(opening).length < address.split(last).length;
  const isBehind = BEHIND.test(address) || isUnopened;
  return isBehind ? inText(address.slice(0, -1)) : withScheme(address);
}

/** People write naver.com for https://naver.com. */
function readNames(text: string): PastedText {
  const whole = hostAddress(text);
  if (whole !== undefined) return { address: whole, offers: [] };
  const words = text.split(/\s+/);
  if (words.length === 1) return { offers: [] };
  return { offers: unique(words.flatMap((word) => hostAddress(inText(word)) ?? [])) };
}

/** Hosts that end in a number are mistakes or private. */
function hostAddress(text: string): string | undefined {
  if (!/^[^\s/?#:@\\]+\.[^\s/?#:@\\.]{2,}(?::\d+)?(?:[/?#]|$)/.test(text) || /\s/.test(text))
    return undefined;
  const address = `https://${text}`;
  const url = URL.parse(address);
  return url !== null && /\.[^.]*[a-z][^.]*$/.test(url.hostname) ? address : undefined;
}

function unique(addresses: readonly string[]): string[] {
  return [...new Set(addresses)].slice(0, MAX_OFFERS);
}
