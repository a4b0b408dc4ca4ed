/** @jsxImportSource ../shared/html */
import { type Identity, type Page } from "../../http/page.ts";
import { memoize } from "../../lib/memoize.ts";
import { type Code, MAX_CODE_POINTS, parseCode } from "../../links/code.ts";
import { isProblem } from "../../links/problem.ts";
import { message } from "../../locales/messages.ts";
import { richMessage } from "../shared/formats.ts";
import { escape } from "../shared/html/jsx-runtime.ts";
import { page } from "../shared/layout.tsx";
import { MarkedAddress, Ticket } from "../shared/ticket.tsx";

export interface Unknown {
  readonly baseUrl: string;
  /** The path after `baseUrl`, percent-decoded. It can contain anything. */
  readonly written: string;
  /** The code that the reader probably meant. */
  readonly meant?: Code | undefined;
}

/** Invisible characters, and those that move others. A space is visible between other characters. */
const UNSEEN = /[[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]--\u0020]|^ | $/gv;

/** Says that an address is unknown, and offers the link that the reader probably meant. */
export function unknownPage(language: string, { baseUrl, written, meant }: Unknown): Page {
  const canBeCreated = !isProblem(parseCode(written));
  const text = canBeCreated ? written : visibleText(written);
  if (meant !== undefined) return render(language, baseUrl, text, canBeCreated, meant);
  const partsOf = memoizedParts(JSON.stringify([language, baseUrl, text === "" ? "" : PLACE, canBeCreated]));
  return (identity) => partsOf(identity).join(escape(text));
}

/** The place of the written code in a memoized page. No other text has this character. */
const PLACE = "\u0001";

/** Robots request many codes, and joining the parts around a code takes a hundredth of rendering the page. */
const memoizedParts = memoize((key) => {
  const whole = render(...(JSON.parse(key) as Parameters<typeof render>));
  let known: { readonly text: string; readonly parts: readonly string[] } | undefined;
  return (identity: Identity) => {
    const text = whole(identity);
    if (known?.text !== text) known = { text, parts: text.split(PLACE) };
    return known.parts;
  };
});

function render(language: string, baseUrl: string, text: string, canBeCreated: boolean, meant?: Code): Page {
  const title = message(language, "page.unknown.title");
  const base = `${baseUrl.replace(/^https?:\/\//, "")}/`;
  const address = (
    <strong class="written">
      <MarkedAddress base={base} code={text} />
    </strong>
  );
  return page(
    language,
    { title },
    <div class="unknown">
      <h1>{title}</h1>
      {text !== "" && (
        <Ticket state="blank" stub={<p>{richMessage(language, "page.unknown.at", { address })}</p>} />
      )}
      {meant !== undefined && (
        <Ticket
          stub={
            <>
              <p class="label">{message(language, "page.unknown.meant")}</p>
              <p class="meant">
                <a href={`/${encodeURIComponent(meant)}`} rel="nofollow">
                  <MarkedAddress base={base} code={meant} />
                </a>
              </p>
            </>
          }
        >
          <p>
            <a href={`/${encodeURIComponent(meant)}+`} rel="nofollow">
              {message(language, "page.unknown.see")}
            </a>
          </p>
          <p class="hint">{message(language, "page.unknown.glued")}</p>
        </Ticket>
      )}
      <p class="soft">{message(language, "page.unknown.next")}</p>
      {canBeCreated ? (
        <form action="/">
          <input type="hidden" name="custom_code" value={text} />
          <button class="plain">{message(language, "page.unknown.make")}</button>
        </form>
      ) : (
        <p>
          <a href="/">{message(language, "page.home")}</a>
        </p>
      )}
    </div>,
  );
}

/** At most as long as a code, with invisible characters percent-encoded as in address bars. */
function visibleText(written: string): string {
  const points = Array.from(written.slice(0, 4 * MAX_CODE_POINTS).toWellFormed());
  const cut = points.length > MAX_CODE_POINTS ? [...points.slice(0, MAX_CODE_POINTS), "…"] : points;
  return cut.join("").replaceAll(UNSEEN, encodeURIComponent);
}
