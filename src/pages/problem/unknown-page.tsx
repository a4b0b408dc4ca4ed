/** @jsxImportSource ../shared/html */
import type { Page } from "../../http/page.ts";
import { type Code, MAX_CODE_POINTS, parseCode } from "../../links/code.ts";
import { isProblem } from "../../links/problem.ts";
import { message } from "../../locales/messages.ts";
import { page } from "../shared/layout.tsx";
import { memoizePage } from "../shared/memoized-page.ts";
import { Ticket, TicketAddress } from "../shared/ticket.tsx";

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
  const known = [language, baseUrl, canBeCreated, text === ""] as const;
  return meant === undefined ? memoizedPage(JSON.stringify(known), text) : render(known, text, meant);
}

const memoizedPage = memoizePage((key, text) => render(JSON.parse(key) as Known, text));

type Known = readonly [language: string, baseUrl: string, canBeCreated: boolean, isHome: boolean];

function render([language, baseUrl, canBeCreated, isHome]: Known, text: string, meant?: Code): Page {
  const title = message(language, "page.unknown.title");
  return page(
    language,
    { title },
    <>
      <h1>{title}</h1>
      {!isHome && <Ticket state="blank" stub={<TicketAddress baseUrl={baseUrl} code={text} />} />}
      {meant !== undefined && (
        <Ticket
          stub={
            <>
              <p class="label">{message(language, "page.unknown.meant")}</p>
              <TicketAddress baseUrl={baseUrl} code={meant} href={`/${encodeURIComponent(meant)}`} />
            </>
          }
        >
          <p class="actions">
            <a class="button" href={`/${encodeURIComponent(meant)}+`} rel="nofollow">
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
          <button>{message(language, "page.unknown.make")}</button>
        </form>
      ) : (
        <p>
          <a href="/">{message(language, "page.home")}</a>
        </p>
      )}
    </>,
  );
}

/** At most as long as a code, with invisible characters percent-encoded as in address bars. */
function visibleText(written: string): string {
  const points = Array.from(written.slice(0, 4 * MAX_CODE_POINTS).toWellFormed());
  const cut = points.length > MAX_CODE_POINTS ? [...points.slice(0, MAX_CODE_POINTS), "…"] : points;
  return cut.join("").replaceAll(UNSEEN, encodeURIComponent);
}
