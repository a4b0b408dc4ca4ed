import type { Identity, Page } from "../../http/page.ts";
import { memoize } from "../../lib/memoize.ts";
import { escape } from "./html/jsx-runtime.ts";

/** The place of the text in a memoized page. No other text has this character. */
const PLACE = "\u0001";

/**
 * Memoizes pages that differ in one text only. Robots request many codes, and joining the parts around a code takes a
 * hundredth of rendering the page.
 */
export function memoizePage(
  render: (key: string, text: string) => Page,
): (key: string, text: string) => Page {
  const partsOf = memoize((key) => {
    const page = render(key, PLACE);
    let known: { readonly whole: string; readonly parts: readonly string[] } | undefined;
    return (identity: Identity) => {
      const whole = page(identity);
      if (known?.whole !== whole) known = { whole, parts: whole.split(PLACE) };
      return known.parts;
    };
  });
  return (key, text) => {
    const parts = partsOf(key);
    return (identity) => parts(identity).join(escape(text));
  };
}
