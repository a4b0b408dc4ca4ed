/** @jsxImportSource ../shared/html */
import { memoize } from "../../lib/memoize.ts";
import { type Code, MAX_CODE_POINTS, parseCode } from "../../links/code.ts";
import { isProblem } from "../../links/problem.ts";
import { message } from "../../locales/messages.ts";
import { escape } from "../shared/html/jsx-runtime.ts";
import { type Page, page } from "../shared/layout.tsx";

export interface Unknown {
  readonly baseUrl: string;
  /** What the address has behind `baseUrl`, percent-decoded. Anybody can write anything there. */
  readonly written: string;
  /** The code of a link that was probably meant. */
  readonly meant?: Code | undefined;
}

/** What cannot be seen, or moves what is around it. A space can be seen between other characters. */
const UNSEEN = /[[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]--\u0020]|^ | $/gv;

/** The page for an address that leads nowhere: which one, the link that was probably meant, and what else to do. */
export function unknownPage(language: string, { baseUrl, written, meant }: Unknown): Page {
  const mayBeMade = !isProblem(parseCode(written));
  const text = mayBeMade ? written : shown(written);
  if (meant !== undefined) return render(language, baseUrl, text, mayBeMade, meant);
  const whole = rendered(JSON.stringify([language, baseUrl, text === "" ? "" : PLACE, mayBeMade]));
  return (identity) => whole(identity).replaceAll(PLACE, () => escape(text));
}

/** Where a page has what was asked for. No other text has this character. */
const PLACE = "\u0001";

/** Robots ask for many codes. Rendering takes as long as several redirects, and filling in a code a tenth of that. */
const rendered = memoize((key) => render(...(JSON.parse(key) as Parameters<typeof render>)));

function render(language: string, baseUrl: string, text: string, mayBeMade: boolean, meant?: Code): Page {
  const title = message(language, "page.unknown.title");
  const base = `${baseUrl.replace(/^https?:\/\//, "")}/`;
  const [before, after] = message(language, "page.unknown.at").split("{address}");
  return page(
    language,
    { title },
    <div class="unknown">
      <h1>{title}</h1>
      {text !== "" && (
        <p class="lead">
          {before}
          <bdi class="written" dir="ltr">
            {base}
            <bdi>{text}</bdi>
          </bdi>
          {after}
        </p>
      )}
      {meant !== undefined && (
        <div class="card">
          <p class="label">{message(language, "page.unknown.meant")}</p>
          <p class="host">
            <a href={`/${encodeURIComponent(meant)}`} rel="nofollow">
              <bdi dir="ltr">
                {base}
                <bdi>{meant}</bdi>
              </bdi>
            </a>
          </p>
          <p class="hint">{message(language, "page.unknown.glued")}</p>
          <p class="hint">
            <a href={`/${encodeURIComponent(meant)}+`} rel="nofollow">
              {message(language, "page.unknown.see")}
            </a>
          </p>
        </div>
      )}
      <p class="soft">{message(language, "page.unknown.next")}</p>
      {mayBeMade ? (
        <form action="/">
          <input type="hidden" name="custom_code" value={text} />
          <button>{message(language, "page.unknown.make")}</button>
        </form>
      ) : (
        <p>
          <a href="/">{message(language, "page.home")}</a>
        </p>
      )}
    </div>,
  );
}

/** As long as a code can be, with what cannot be seen spelled out as address bars do. */
function shown(written: string): string {
  const points = Array.from(written.slice(0, 4 * MAX_CODE_POINTS).toWellFormed());
  const cut = points.length > MAX_CODE_POINTS ? [...points.slice(0, MAX_CODE_POINTS), "…"] : points;
  return cut.join("").replaceAll(UNSEEN, encodeURIComponent);
}
