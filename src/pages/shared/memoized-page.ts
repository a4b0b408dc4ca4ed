import type { Identity, Page } from "../../http/page.ts";
import { memoize } from "../../lib/memoize.ts";
import { escape } from "./html/jsx-runtime.ts";

/** The places of the texts in a memoized page: noncharacters, which no other text has. */
const [FIRST, SECOND] = ["\uFDD0", "\uFDD1"] as const;

/**
 * Memoizes pages that differ in one text or two. Robots request many codes, and joining the parts around a code takes a
 * hundredth of rendering the page.
 */
export function memoizePage(
  render: (key: string, text: string, other?: string) => Page,
): (key: string, text: string, other?: string) => Page {
  const partsOf = memoize((key) => {
    const page = render(key, FIRST, SECOND);
    let known: { readonly whole: string; readonly parts: readonly (readonly string[])[] } | undefined;
    return (identity: Identity) => {
      const whole = page(identity);
      if (known?.whole !== whole)
        known = { whole, parts: whole.split(SECOND).map((part) => part.split(FIRST)) };
      return known.parts;
    };
  });
  return (key, text, other = "") => {
    const parts = partsOf(key);
    const first = escape(text);
    return (identity) =>
      parts(identity)
        .map((part) => part.join(first))
        .join(escape(other));
  };
}
