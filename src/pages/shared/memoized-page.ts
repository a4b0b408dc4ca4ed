import type { Identity, Page } from "../../http/page.ts";
import { memoize } from "../../lib/memoize.ts";
import { escape } from "./html/jsx-runtime.ts";

/** The places of the texts in a memoized page: noncharacters, which no other text has. */
const [FIRST, SECOND] = ["\uFDD0", "\uFDD1"] as const;
const PLACE = /([\uFDD0\uFDD1])/;

/**
 * Memoizes pages that differ in one text or two. Robots request many codes, and joining the parts around a code takes a
 * hundredth of rendering the page.
 */
export function memoizePage(
  render: (key: string, text: string, other?: string) => Page,
): (key: string, text: string, other?: string) => Page {
  const partsOf = memoize((key) => {
    const page = render(key, FIRST, SECOND);
    let known: { readonly whole: string; readonly parts: readonly string[] } | undefined;
    return (identity: Identity) => {
      const whole = page(identity);
      if (known?.whole !== whole) known = { whole, parts: whole.split(PLACE) };
      return known.parts;
    };
  });
  return (key, text, other = "") => {
    const parts = partsOf(key);
    const texts = new Map<string, string>([
      [FIRST, escape(text)],
      [SECOND, escape(other)],
    ]);
    return (identity) =>
      parts(identity)
        .map((part) => texts.get(part) ?? part)
        .join("");
  };
}
