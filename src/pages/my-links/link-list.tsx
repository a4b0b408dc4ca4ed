/** @jsxImportSource ../shared/html */
import { message, type MessageKey } from "../../locales/messages.ts";
import { timeStyle } from "../../locales/relative-time.ts";
import type { Child } from "../shared/html/jsx-runtime.ts";
import { MY_LINKS_PATH } from "../shared/layout.tsx";
import { Menu } from "../shared/menu.tsx";
import { CopyButton } from "../shared/share.tsx";

/** The states of links, as the browser script names them. */
const STATES: Record<string, MessageKey> = {
  never: "home.endless",
  ends: "home.ends-in",
  expired: "home.ended",
  scheduled: "links.scheduled",
  used_up: "links.used-up",
  withdrawn: "links.withdrawn",
  disabled: "links.disabled",
  gone: "home.gone",
  unknown: "home.unknown",
};

/** Texts for the browser script, as attributes of its element. */
export function wordsOf(language: string, baseUrl: string, more: Readonly<Record<string, MessageKey>>) {
  const words = Object.entries({ ...STATES, ...more });
  return {
    "data-base": baseUrl,
    "data-times": timeStyle(language),
    ...Object.fromEntries(words.map(([name, key]) => [`data-${name}`, message(language, key)])),
  };
}

/**
 * The latest links created in this browser. The script fills the list, because the server doesn't know who created a
 * link.
 */
export function CreatedHere({ language, baseUrl }: { language: string; baseUrl: string }) {
  return (
    <section
      class="made-here wide"
      aria-labelledby="made-here"
      hidden
      {...wordsOf(language, baseUrl, { all: "links.all" })}
    >
      <div class="title-row">
        <h2 id="made-here">{message(language, "home.made-here")}</h2>
        <a href={MY_LINKS_PATH} data-all>
          {message(language, "links.title")}
        </a>
      </div>
      <ul></ul>
      <template>
        <LinkItem language={language} />
      </template>
    </section>
  );
}

interface LinkItemProps {
  readonly language: string;
  readonly children?: Child;
}

/** An item of the list, for the browser script to fill. */
export function LinkItem({ language, children }: LinkItemProps) {
  return (
    <li>
      <a data-address>
        <bdi data-title></bdi>
        <span>
          <bdi data-code></bdi> <bdi class="soft" dir="ltr" data-target></bdi>
        </span>
      </a>
      <span class="chip" data-left></span>
      <p class="visited">
        <strong data-visits></strong> <span class="soft">{message(language, "preview.visits")}</span>
      </p>
      <time class="soft" data-made></time>
      <div class="actions">
        <CopyButton language={language} kind="secondary">
          <Menu id="link-menu" kind="quiet" label={message(language, "links.menu")} sign="⋯">
            <a data-preview>{message(language, "manage.preview")}</a>
            <a data-qr>{message(language, "links.qr")}</a>
            <a data-manage>{message(language, "links.change")}</a>
            {children}
          </Menu>
        </CopyButton>
      </div>
    </li>
  );
}
