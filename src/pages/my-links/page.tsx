/** @jsxImportSource ../shared/html */
import type { DetachedCall } from "../../http/call.ts";
import { viewEndpoint } from "../../http/endpoint.ts";
import type { Page } from "../../http/page.ts";
import { html } from "../../http/responses.ts";
import { message, type MessageKey } from "../../locales/messages.ts";
import { sentences } from "../shared/formats.ts";
import { MY_LINKS_PATH, page } from "../shared/layout.tsx";
import { CopyButton } from "../shared/share.tsx";
import { LinkItem, wordsOf } from "./link-list.tsx";

/** The links that this browser keeps. A script fills them in. */
export const showMyLinks = viewEndpoint({
  at: `GET ${MY_LINKS_PATH}`,
  cost: "shared",
  view: {
    render: () => (call: DetachedCall) =>
      html(call, 200, (language) => myLinksPage(language, call.domain), {
        "Cache-Control": "private, no-cache",
      }),
  },
});

const HEADS = ["links.code", "preview.leads", "preview.visits", "preview.ends"] as const;

/** Texts for the browser script. */
const SAID: Record<string, MessageKey> = {
  one: "links.count.one",
  other: "links.count",
  found: "links.found",
  removed: "links.removed",
  cleared: "links.cleared",
  remove: "links.remove",
  clear: "links.clear",
  full: "links.full",
  loaded: "links.loaded",
  unreadable: "links.unreadable",
  blocked: "links.blocked",
  limited: "links.limited",
  away: "links.away",
};

/** All links created in this browser. It is the same page for everybody; the browser script fills it. */
function myLinksPage(language: string, { baseUrl }: { readonly baseUrl: string }): Page {
  const title = message(language, "links.title");
  return page(
    language,
    { title, path: MY_LINKS_PATH },
    <>
      <h1>{title}</h1>
      <p class="lead">{message(language, "links.lead")}</p>
      <div class="card scriptless">
        <p>{message(language, "links.noscript")}</p>
        <p>{message(language, "links.noscript.find")}</p>
      </div>
      <div class="my-links" data-my-links hidden {...wordsOf(language, baseUrl, SAID)}>
        <div data-empty hidden>
          <p>{message(language, "links.empty")}</p>
          <p>
            <a class="button primary" href="/">
              {message(language, "page.home")}
            </a>
          </p>
        </div>
        <div data-tools hidden>
          <search>
            <label for="search">{message(language, "links.search")}</label>
            <input id="search" type="search" autocomplete="off" spellcheck={false} data-search />
          </search>
          <div class="actions above">
            <span role="status" class="soft" data-count></span>
            <CopyButton language={language} kind="plain" label="links.copy-all" />
          </div>
        </div>
        <p class="said" role="status" data-said></p>
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
          <button type="button" class="plain" data-save hidden>
            {message(language, "links.save")}
          </button>
          <button type="button" class="plain" data-load>
            {message(language, "links.load")}
          </button>
          <button type="button" class="plain" data-clear hidden>
            {message(language, "home.forget-all")}
          </button>
          <input type="file" accept=".json" data-file hidden />
        </div>
        <template data-item>
          <LinkItem language={language}>
            <a class="button plain" data-qr>
              {message(language, "links.qr")}
            </a>
            <button type="button" class="plain" data-forget>
              {message(language, "home.forget")}
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
