/** What somebody who pasted a text may mean by it. */
export interface Pasted {
  /** The one address in it. */
  readonly address?: string;
  /** Addresses that it may be, if that is not clear. */
  readonly offers: readonly string[];
}

/** More would not help anybody to choose. */
const MAX_OFFERS = 3;
/** With a scheme, or with one that lost a colon or a slash: http//, https:/, https:. */
const ADDRESS = /(https?)(?::\/\/|:\/|\/\/|:)(?=[^\s/])\S+/gi;
const PREFIX = /^(https?)(?::\/\/|:\/|\/\/|:)/i;
/** What may stand behind an address in a sentence, in English, Japanese or Korean. */
const BEHIND = /[.,;:!?'"*…。，、！？：；”’»」』）】〉》>]$/u;
const BRACKETS = { ")": "(", "]": "[", "}": "{" } as const;

/** Finds the address in what was typed or pasted: whole, with a mended scheme, without one, or in a text that was shared. */
export function readPasted(written: string): Pasted {
  const text = written.trim();
  const found = [...text.matchAll(ADDRESS)].map(([match]) => match);
  const [first] = found;
  if (first === undefined) return readNames(text);
  // With an address at its beginning, a space may be part of that or end it.
  if (text.startsWith(first) && text !== first && PREFIX.exec(text)?.[0].endsWith("://"))
    return { offers: unique([...found.map(inText), text]) };
  if (text === first) return { address: mended(text), offers: [] };
  const addresses = unique(found.map(inText));
  const [only] = addresses;
  return addresses.length === 1 && only !== undefined ? { address: only, offers: [] } : { offers: addresses };
}

function mended(address: string): string {
  return PREFIX.exec(address)?.[0].endsWith("://") ? address : address.replace(PREFIX, "$1://");
}

/** An address in a sentence, without what belongs to the sentence. */
function inText(address: string): string {
  const last = address.at(-1) ?? "";
  const opening = BRACKETS[last as keyof typeof BRACKETS] as string | undefined;
  const isUnopened = opening !== undefined && address.split(opening).length < address.split(last).length;
  const isBehind = BEHIND.test(address) || isUnopened;
  return isBehind ? inText(address.slice(0, -1)) : mended(address);
}

/** People write naver.com for https://naver.com. */
function readNames(text: string): Pasted {
  const whole = named(text);
  if (whole !== undefined) return { address: whole, offers: [] };
  const words = text.split(/\s+/);
  if (words.length === 1) return { offers: [] };
  return { offers: unique(words.flatMap((word) => named(inText(word)) ?? [])) };
}

/** A host that ends in a number is a mistake, or private. */
function named(text: string): string | undefined {
  if (!/^[^\s/?#:@\\]+\.[^\s/?#:@\\.]{2,}(?::\d+)?(?:[/?#]|$)/.test(text) || /\s/.test(text))
    return undefined;
  const address = `https://${text}`;
  const url = URL.parse(address);
  return url !== null && /\.[^.]*[a-z][^.]*$/.test(url.hostname) ? address : undefined;
}

function unique(addresses: readonly string[]): string[] {
  return [...new Set(addresses)].slice(0, MAX_OFFERS);
}
