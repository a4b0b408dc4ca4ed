/** @jsxImportSource ../shared/html */
import type { Page } from "../../http/page.ts";
import { type CodeCase, lookUpCode, MAX_CODE_POINTS, parseCode } from "../../links/code.ts";
import { isProblem } from "../../links/problem.ts";
import { message } from "../../locales/messages.ts";
import type { ListedLink } from "../../moderation/directory.ts";
import { TextField, VERBATIM } from "../shared/form-fields.tsx";
import { ALL_PATH, page } from "../shared/layout.tsx";
import { memoizePage } from "../shared/memoized-page.ts";
import { Ticket, TicketAddress, withoutScheme } from "../shared/ticket.tsx";
import { CreateIt, Nearest } from "./nearest.tsx";

export interface Unknown {
  readonly baseUrl: string;
  readonly codeCase: CodeCase;
  /** The path after `baseUrl`, percent-decoded. It can contain anything. */
  readonly written: string;
  /** The code that the reader probably meant. */
  readonly meant?: string | undefined;
  /** Whether the service has a directory of links. */
  readonly hasPeople: boolean;
  /** The nearest links of the directory, for a colleague. */
  readonly near?: readonly ListedLink[] | undefined;
}

/** Invisible characters, and those that move others. A space is visible between other characters. */
const UNSEEN = /[[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]--\u0020]|^ | $/gv;

/** Says that an address is unknown, and offers the link that the reader probably meant. */
export function unknownPage(language: string, unknown: Unknown): Page {
  const { baseUrl, codeCase, written, meant, hasPeople, near } = unknown;
  const canBeCreated = !isProblem(parseCode(written, codeCase));
  const text = canBeCreated ? written : visibleText(written);
  const known = [language, baseUrl, codeCase, canBeCreated, text === "", hasPeople] as const;
  return meant === undefined && near === undefined
    ? memoizedPage(JSON.stringify(known), text)
    : render(known, text, { meant, isCapitals: isSameWord(beforeSlash(written), meant), near });
}

const memoizedPage = memoizePage((key, text) => render(JSON.parse(key) as Known, text));

type Known = readonly [
  language: string,
  baseUrl: string,
  codeCase: CodeCase,
  canBeCreated: boolean,
  isHome: boolean,
  hasPeople: boolean,
];

interface Offers extends Pick<Unknown, "meant" | "near"> {
  readonly isCapitals?: boolean;
}

/** Whether two spellings differ only in capitals. */
function isSameWord(one: string, other = ""): boolean {
  return lookUpCode(one, "ignore") === lookUpCode(other, "ignore");
}

/** The code of an address, if a path follows it. */
export function beforeSlash(written: string): string {
  return written.split("/", 1)[0] ?? "";
}

function render(
  [language, baseUrl, codeCase, canBeCreated, isHome, hasPeople]: Known,
  text: string,
  { meant, isCapitals = false, near = [] }: Offers = {},
): Page {
  const title = message(language, "page.unknown.title");
  return page(
    language,
    { title },
    <>
      <h1>{title}</h1>
      {isHome && <p class="lead">{message(language, `page.unknown.next.${codeCase}`)}</p>}
      <div class="columns wide">
        <div>
          {!isHome && (
            <form action="/+go">
              <Ticket
                state="blank"
                stub={
                  <TextField
                    name="q"
                    label={message(language, "page.unknown.address")}
                    hint={message(language, `page.unknown.next.${codeCase}`)}
                    errors={{}}
                    base={`${withoutScheme(baseUrl)}/`}
                    input={{ ...VERBATIM, value: text }}
                    button={<button class="primary">{message(language, "page.again")}</button>}
                  />
                }
              />
            </form>
          )}
          {meant !== undefined && (
            <section class="meant" aria-labelledby="meant">
              <h2 id="meant">{message(language, "page.unknown.meant")}</h2>
              <div>
                <TicketAddress
                  {...{ baseUrl, code: meant, href: `/${encodeURIComponent(meant)}` }}
                  unlike={isCapitals && beforeSlash(text).length === meant.length ? text : undefined}
                />
                <a class="button" href={`/${encodeURIComponent(meant)}+`} rel="nofollow">
                  {message(language, "page.unknown.see")}
                </a>
              </div>
              {!isCapitals && <p class="hint">{message(language, "page.unknown.glued")}</p>}
            </section>
          )}
          <Nearest language={language} baseUrl={baseUrl} links={near} />
        </div>
        <aside>
          <h2>{message(language, "page.unknown.sent")}</h2>
          <p>{message(language, "page.unknown.ask")}</p>
          {canBeCreated && (
            <>
              <h2>{message(language, "page.unknown.yours")}</h2>
              <p>{message(language, "page.unknown.free")}</p>
              <CreateIt language={language} code={text} />
            </>
          )}
          {hasPeople && (
            <form action={ALL_PATH}>
              <input type="hidden" name="q" value={text} />
              <button>{message(language, "all.search-all")}</button>
            </form>
          )}
        </aside>
      </div>
    </>,
  );
}

/** At most as long as a code, with invisible characters percent-encoded as in address bars. */
function visibleText(written: string): string {
  const points = Array.from(written.slice(0, 4 * MAX_CODE_POINTS).toWellFormed());
  const cut = points.length > MAX_CODE_POINTS ? [...points.slice(0, MAX_CODE_POINTS), "…"] : points;
  return cut.join("").replaceAll(UNSEEN, encodeURIComponent);
}
