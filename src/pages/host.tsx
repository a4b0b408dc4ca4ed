/** @jsxImportSource ./html */
import { message } from "../language/messages.ts";
import { type Destination, splitHost } from "./destination.ts";
import type { Html } from "./html/jsx-runtime.ts";

/** Longer addresses are folded, in characters. */
const LONG = 200;
/** Fits every line, also as a title. */
const NARROW = 12;
/** So much of a folded address is seen. */
const BEGINNING = /^.{100}/su;
const END = /.{40}$/su;

/** The host of a destination. The part that somebody registered stands out, because the rest is their choice. */
export function Host({ destination }: { destination: Destination }) {
  const [front, domain] = splitHost(destination);
  const { port } = destination;
  return (
    <p class="host">
      <bdi dir="ltr">
        <Breaking text={front} />
        <strong>
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
  const count = address.length.toLocaleString(language);
  return (
    <>
      <p class="whole folded">
        <bdi dir="ltr">
          <Breaking text={BEGINNING.exec(address)?.[0] ?? ""} /> … {END.exec(address)?.[0]}
        </bdi>
      </p>
      <details class="whole">
        <summary>{message(language, "preview.whole", { count })}</summary>
        <p>{whole}</p>
      </details>
    </>
  );
}

/** Breaks behind dots and slashes, and before the parts of a query; elsewhere only where a part is wider than its line. */
function Breaking({ text }: { text: string }): (string | Html)[] {
  if (text.length <= NARROW) return [text];
  const [first = "", ...others] = text.split(/(?<=[./])(?![./])|(?=[?&#])/);
  return [hyphened(first), ...others.flatMap((part) => [wbr, hyphened(part)])];
}

/** Browsers would break behind hyphens, and xn-- is more than one. */
function hyphened(part: string): string | Html {
  return part.includes("-") ? <span>{part}</span> : part;
}

const wbr = <wbr />;
