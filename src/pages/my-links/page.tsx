/** @jsxImportSource ../shared/html */
import type { ApiViewParts } from "../../api/api-parts.ts";
import type { DetachedCall } from "../../http/call.ts";
import { viewEndpoint } from "../../http/endpoint.ts";
import type { Page } from "../../http/page.ts";
import { html } from "../../http/responses.ts";
import { message, type MessageKey } from "../../locales/messages.ts";
import { sentences } from "../shared/in-words.ts";
import { FORM, MY_LINKS_PATH, page } from "../shared/layout.tsx";
import { CopyButton } from "../shared/share.tsx";
import { LinkItem, wordsOf } from "./link-list.tsx";

/** The links that this browser keeps. A script fills them in. */
export const showMyLinks = viewEndpoint({
  at: `GET ${MY_LINKS_PATH}`,
  cost: "shared",
  view: {
    render:
      ({ createUserHeader }: Pick<ApiViewParts, "createUserHeader">) =>
      (call: DetachedCall) =>
        html(call, 200, (language) => myLinksPage(language, call.domain, createUserHeader !== null), {
          "Cache-Control": "private, no-cache",
        }),
  },
});

const HEADS = ["links.code", "links.state", "preview.visits", "links.made"] as const;

/** Texts for the browser script. */
const SAID: Record<string, MessageKey> = {
  one: "links.count.one",
  other: "links.count",
  found: "links.found",
  removed: "links.removed",
  cleared: "links.cleared",
  remove: "links.remove",
  deleted: "links.deleted",
  save: "links.save-name",
  full: "links.full",
  loaded: "links.loaded",
  unreadable: "links.unreadable",
  blocked: "links.blocked",
  limited: "links.limited",
  away: "links.away",
};

/** All links created in this browser. It is the same page for everybody; the browser script fills it. */
function myLinksPage(language: string, { baseUrl }: { readonly baseUrl: string }, hasPeople: boolean): Page {
  const title = message(language, "links.title");
  return page(
    language,
    { title, path: MY_LINKS_PATH },
    <>
      <div class="title-row wide">
        <h1>{title}</h1>
        <a class="button primary" href={FORM}>
          {message(language, "preview.another")}
        </a>
      </div>
      <p class="lead">{message(language, hasPeople ? "links.lead.own" : "links.lead")}</p>
      <div class="card scriptless">
        <p>{message(language, "links.noscript")}</p>
        <p>{message(language, "links.noscript.find")}</p>
      </div>
      <div
        class="my-links wide"
        data-my-links
        data-own={hasPeople}
        hidden
        {...wordsOf(language, baseUrl, SAID)}
      >
        <div class="waiting" data-empty hidden>
          <p>{message(language, "links.empty")}</p>
        </div>
        <div data-tools hidden>
          <search>
            <label for="search">{message(language, "links.search")}</label>
            <input id="search" type="search" autocomplete="off" spellcheck={false} data-search />
          </search>
          <div class="actions above">
            <span role="status" class="soft" data-count></span>
            <CopyButton language={language} kind="quiet" label="links.copy-all" />
          </div>
        </div>
        <div class="toast">
          <p role="status" data-said></p>
          <button type="button" data-undo>
            {message(language, "links.undo")}
          </button>
          <button type="button" class="quiet" aria-label={message(language, "dismiss")} data-dismiss>
            ✕
          </button>
        </div>
        <p class="said soft" role="status" data-trouble></p>
        <p data-none hidden>
          {message(language, "links.none")}
        </p>
        <div class="links">
          <div class="heads" aria-hidden="true">
            {HEADS.map((key) => (
              <span>{message(language, key)}</span>
            ))}
          </div>
          <ul data-list></ul>
        </div>
        <button type="button" data-more hidden>
          {message(language, "links.more")}
        </button>
        <details class="fold" data-gone hidden>
          <summary>
            {message(language, "links.gone")} <span class="soft" data-removed></span>
          </summary>
          <ul data-removed-list></ul>
        </details>
        <p class="hint bookmarklet">
          {sentences(
            language,
            message(language, "home.bookmarklet"),
            <a href={bookmarklet(baseUrl)}>{message(language, "home.make")}</a>,
          )}
        </p>
        <p class="hint" data-below hidden>
          {message(language, "links.hint")}
        </p>
        <div class="actions">
          <button type="button" class="quiet" data-save hidden>
            {message(language, "links.save")}
          </button>
          <button type="button" class="quiet" data-load>
            {message(language, "links.load")}
          </button>
          <button type="button" class="quiet" data-clear hidden>
            {message(language, "home.forget-all")}
          </button>
          <input type="file" accept=".json" data-file hidden />
        </div>
        <template data-item>
          <LinkItem language={language}>
            <button type="button" data-rename>
              {message(language, "links.rename")}
            </button>
            <button type="button" class="danger" data-forget>
              {message(language, "home.forget")}
            </button>
            <button type="button" data-restore>
              {message(language, "links.put-back")}
            </button>
            <button type="button" class="danger" data-delete>
              {message(language, "links.delete")}
            </button>
          </LinkItem>
        </template>
      </div>
    </>,
  );
}

function bookmarklet(baseUrl: string): string {
  const home = JSON.stringify(`${new URL(baseUrl).origin}/?original_url=`);
  return `javascript:void(location.href=${home}+encodeURIComponent(location.href))`;
}
