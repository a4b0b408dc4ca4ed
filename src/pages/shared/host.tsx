/** @jsxImportSource ./html */
import { message } from "../../locales/messages.ts";
import { numberFormat } from "./charts/chart.tsx";
import { type Destination, splitHost } from "./destination-parts.ts";
import { Html, write } from "./html/jsx-runtime.ts";

/** Longer addresses are folded, in characters. */
const LONG = 200;
/** Fits every line, also as a title. */
const NARROW = 12;
/** Does not fit a phone as a title. */
const WIDE = 13;
/** So much of a folded address is seen. */
const BEGINNING = /^.{100}/su;
const END = 40;
/** Of a character, in UTF-16 units. */
const WIDEST = 2;

/** The host of a destination. The part that somebody registered stands out, because the rest is their choice. */
export function Host({ destination }: { destination: Destination }) {
  const [front, domain] = splitHost(destination);
  const { port } = destination;
  return (
    <p class="host">
      <bdi dir="ltr">
        <Breaking text={front} />
        <strong class={domain.length > WIDE ? "wide" : undefined}>
          <Breaking text={domain} />
        </strong>
        {port !== "" && <span class="soft">:{port}</span>}
      </bdi>
    </p>
  );
}

/** A whole address. A long one shows its beginning and its end until it is opened. */
export function FullAddress({ language, address }: { language: string; address: string }) {
  const whole = (
    <bdi dir="ltr">
      <Breaking text={address} />
    </bdi>
  );
  if (address.length <= LONG) return <p class="whole">{whole}</p>;
  const count = numberFormat(language).format(address.length);
  return (
    <>
      <p class="whole folded">
        <bdi dir="ltr">
          <Breaking text={BEGINNING.exec(address)?.[0] ?? ""} /> … {endOf(address)}
        </bdi>
      </p>
      <details class="whole">
        <summary>{message(language, "preview.whole", { count })}</summary>
        <p>{whole}</p>
      </details>
    </>
  );
}

/** A regular expression would look for it from the first character on. */
function endOf(address: string): string {
  return Array.from(address.slice(-WIDEST * END))
    .slice(-END)
    .join("");
}

/**
 * Breaks behind dots and slashes, and before the parts of a query; elsewhere only where a part is wider than its line. Browsers
 * would break behind hyphens, so parts with hyphens are elements. An address may have thousands of parts: they are marked in
 * its text, by characters that no address has, and become HTML at once.
 */
function Breaking({ text }: { text: string }): Html {
  if (text.length <= NARROW) return new Html(write(text));
  let marked = text.replace(/[./]+(?!$)/g, `$&${BREAK}`).replace(/[?&#]/g, `${BREAK}$&`);
  if (text.includes("-") && text.length <= LONG)
    marked = marked
      .split(BREAK)
      .map((part) => (part.includes("-") ? PART + part + PART_END : part))
      .join(BREAK);
  return new Html(
    write(marked).replaceAll(BREAK, "<wbr/>").replaceAll(PART, "<span>").replaceAll(PART_END, "</span>"),
  );
}

const [BREAK, PART, PART_END] = ["\u{0}", "\u{1}", "\u{2}"];
