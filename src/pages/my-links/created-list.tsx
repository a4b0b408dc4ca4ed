/** @jsxImportSource ../shared/html */
import { message, type MessageKey } from "../../locales/messages.ts";
import { CopyButton } from "../shared/copy-button.tsx";
import type { Child } from "../shared/html/jsx-runtime.ts";
import { MY_LINKS_PATH } from "../shared/layout.tsx";
import { timeStyle } from "../shared/time-words.ts";

/** What the browser script says of links. */
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

/** What the browser script shows links made here with, for an element that it finds. */
export function wordsOf(language: string, baseUrl: string, more: Readonly<Record<string, MessageKey>>) {
  const words = Object.entries({ ...STATES, ...more });
  return {
    "data-base": baseUrl,
    "data-times": timeStyle(language),
    ...Object.fromEntries(words.map(([name, key]) => [`data-${name}`, message(language, key)])),
  };
}

/** The latest links made in this browser. The browser script fills it: the server does not know who made a link. */
export function MadeHere({ language, baseUrl }: { language: string; baseUrl: string }) {
  return (
    <section
      class="made-here"
      aria-labelledby="made-here"
      hidden
      {...wordsOf(language, baseUrl, { all: "links.all" })}
    >
      <h2 id="made-here">{message(language, "home.made-here")}</h2>
      <ul></ul>
      <p>
        <a href={MY_LINKS_PATH} data-all>
          {message(language, "links.title")}
        </a>
      </p>
      <template>
        <MadeLink language={language} />
      </template>
    </section>
  );
}

interface MadeLinkProps {
  readonly language: string;
  /** Below the destination. */
  readonly facts?: Child;
  /** More buttons. */
  readonly children?: Child;
}

/** A link in a list, for the browser script to fill. */
export function MadeLink({ language, facts, children }: MadeLinkProps) {
  return (
    <li>
      <div class="what">
        <a data-address></a>
        <bdi class="soft" dir="ltr" data-target></bdi>
        <span class="soft">
          <span data-left></span>
          {facts}
        </span>
      </div>
      <p class="visited">
        <span>{message(language, "preview.visits")}</span> <strong data-visits></strong>
      </p>
      <div class="actions">
        <CopyButton language={language} kind="plain">
          <a class="button plain" data-manage>
            {message(language, "home.manage")}
          </a>
          {children}
        </CopyButton>
      </div>
    </li>
  );
}
