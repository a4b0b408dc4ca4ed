/** @jsxImportSource ../shared/html */
import type { Domain } from "../../http/domain.ts";
import type { Page } from "../../http/page.ts";
import { describe, type HttpProblem } from "../../http/problems.ts";
import { parseCode } from "../../links/code.ts";
import { isProblem } from "../../links/problem.ts";
import { message } from "../../locales/messages.ts";
import type { DirectoryQuery, ListedLink } from "../../moderation/directory.ts";
import { USED_DAYS } from "../../moderation/most-used.ts";
import { managePath } from "../manage/page.tsx";
import { CreateIt, Nearest } from "../problem/nearest.tsx";
import { Chip } from "../shared/chip.tsx";
import { describeDestination } from "../shared/destination-parts.ts";
import { Notice } from "../shared/form-fields.tsx";
import { numberFormat } from "../shared/in-words.ts";
import { ALL_PATH, FORM, page } from "../shared/layout.tsx";
import { CopyButton } from "../shared/share.tsx";
import { withoutScheme } from "../shared/ticket.tsx";
import { withQuery } from "../shared/with-query.ts";

interface ShownLink extends ListedLink {
  /** Whether the reader may change it. */
  readonly canChange: boolean;
}

/** A page of the directory. */
export interface Shown extends Pick<DirectoryQuery, "text"> {
  readonly order: "used" | "newest";
  readonly links: readonly ShownLink[];
  /** Undefined on the last page. */
  readonly cursor?: string | undefined;
  readonly searched: number;
  /** Links like the text, if no link has it. */
  readonly near: readonly ListedLink[];
}

const ORDERS = ["used", "newest"] as const;
/** In UTF-16 units. A URL may have thousands, and the window shows fewer. */
const MAX_LISTED_LENGTH = 300;

function queryOf({ text, order }: Pick<Shown, "text" | "order">): Record<string, string> {
  return { ...(text !== "" && { q: text }), ...(order === "newest" && { by: order }) };
}

/** The address of the next page. */
export function nextOf({ cursor = "", ...shown }: Shown): string {
  return withQuery(ALL_PATH, { ...queryOf(shown), cursor });
}

export function directoryPage(
  language: string,
  { baseUrl, codeCase }: Pick<Domain, "baseUrl" | "codeCase">,
  shown: Shown,
  refused?: HttpProblem,
): Page {
  const { text, order, links, cursor, searched, near } = shown;
  const title = message(language, "all.title");
  const percent = new Intl.NumberFormat(language, { style: "percent", roundingMode: "floor" });
  const [why] = refused === undefined ? [] : describe(refused).messages;
  const canBeCreated = text !== "" && links.length === 0 && !isProblem(parseCode(text, codeCase));
  return page(
    language,
    { title, path: ALL_PATH, query: queryOf(shown) },
    <>
      <div class="title-row wide">
        <h1>{title}</h1>
        <a class="button primary" href={FORM}>
          {message(language, "preview.another")}
        </a>
      </div>
      {why !== undefined && <Notice text={message(language, why.key, why.values)} />}
      {why === undefined && (
        <div class="my-links all wide">
          <search>
            <form action={ALL_PATH}>
              <label for="q">{message(language, "all.search")}</label>
              <input id="q" name="q" type="search" value={text} autocomplete="off" spellcheck={false} />
              {order === "newest" && <input type="hidden" name="by" value={order} />}
              <button>{message(language, "admin.search")}</button>
            </form>
          </search>
          <div class="ranges">
            <nav aria-label={message(language, "all.order")}>
              {ORDERS.map((one) => (
                <a
                  href={withQuery(ALL_PATH, queryOf({ text, order: one }))}
                  {...(one === order && { "aria-current": "true" })}
                >
                  {message(language, `all.${one}`)}
                </a>
              ))}
            </nav>
          </div>
          {links.length > 0 && (
            <div class="links">
              <div class="heads" aria-hidden="true">
                <span>{message(language, "links.code")}</span>
                <span>{message(language, "owner")}</span>
                <span>{message(language, "all.visits", { count: USED_DAYS })}</span>
              </div>
              <ul>
                {links.map((link) => (
                  <Item language={language} baseUrl={baseUrl} link={link} />
                ))}
              </ul>
            </div>
          )}
          {links.length === 0 && cursor === undefined && <p>{message(language, "links.none")}</p>}
          {text !== "" && cursor !== undefined && searched < 1 && links.length === 0 && (
            <p role="status">
              {message(language, "admin.links.searched", { share: percent.format(searched) })}
            </p>
          )}
          {cursor !== undefined && (
            <a class="button" href={nextOf(shown)}>
              {message(language, "links.more")}
            </a>
          )}
          <Nearest language={language} baseUrl={baseUrl} links={near} />
          {canBeCreated && cursor === undefined && <CreateIt language={language} code={text} />}
        </div>
      )}
    </>,
  );
}

/** As on the page of the reader's own links. */
function Item({ language, baseUrl, link }: { language: string; baseUrl: string; link: ShownLink }) {
  const { code, title, owner, target, hasEnded, visits, canChange } = link;
  const path = `/${encodeURIComponent(code)}`;
  const count = numberFormat(language).format(visits);
  const visitsLabel = message(language, "preview.visits");
  return (
    <li {...(hasEnded && { "data-state": "expired" })}>
      <a data-address href={hasEnded ? `${path}+` : path} rel="nofollow">
        <bdi data-title>{title}</bdi>
        <span>
          <bdi data-code>/{code}</bdi>{" "}
          <bdi class="soft" dir="ltr">
            {target !== undefined && shortTarget(target)}
          </bdi>
        </span>
      </a>
      {hasEnded && <Chip kind="ended">{message(language, "chip.ended")}</Chip>}
      {target === undefined && <Chip>{message(language, "password.label")}</Chip>}
      <bdi class="soft owner">{owner}</bdi>
      <a class="visited" href={`${path}+`} rel="nofollow" aria-label={`${count} ${visitsLabel}`}>
        <strong>{count}</strong> <span class="soft">{visitsLabel}</span>
      </a>
      <div class="actions">
        <CopyButton language={language} kind="secondary" text={`${baseUrl}${path}`} />
      </div>
      {canChange && (
        <a class="change" href={managePath(code)} rel="nofollow">
          {message(language, "manage.change")}
        </a>
      )}
    </li>
  );
}

function shortTarget(target: string): string {
  return withoutScheme(describeDestination(target).address.slice(0, MAX_LISTED_LENGTH).toWellFormed());
}
