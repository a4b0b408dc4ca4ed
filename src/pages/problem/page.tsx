/** @jsxImportSource ../shared/html */
import type { Page } from "../../http/page.ts";
import type { PageProblem } from "../../http/problems.ts";
import { memoize } from "../../lib/memoize.ts";
import type { DisabledReason } from "../../links/reasons.ts";
import { message, type MessageKey } from "../../locales/messages.ts";
import { whenIn } from "../../locales/relative-time.ts";
import { richMessage } from "../shared/formats.ts";
import type { Child } from "../shared/html/jsx-runtime.ts";
import { Instant } from "../shared/instant.tsx";
import { page } from "../shared/layout.tsx";
import { memoizePage } from "../shared/memoized-page.ts";
import { Ticket } from "../shared/ticket.tsx";

interface Words {
  readonly title: MessageKey;
  /** Details, if the title doesn't say everything. */
  readonly details?: Child;
  /** The reader's next step. */
  readonly next: MessageKey;
  /** Whether to offer a retry. */
  readonly again?: boolean;
}

/** Says why an address doesn't work, and what to do next. `address`: of a link, without its scheme. */
export function problemPage(language: string, problem: PageProblem, address = ""): Page {
  return memoizedPage(JSON.stringify([language, problem, address !== ""]), address);
}

/** Rendering takes as long as several redirects, and the same few pages are requested again and again. */
const memoizedPage = memoizePage((key, address) => {
  const [language, problem, isOfLink] = JSON.parse(key) as [string, PageProblem, boolean];
  return render(
    language,
    problem,
    isOfLink && (
      <p class="soft">
        <bdi dir="ltr">{address}</bdi>
      </p>
    ),
  );
});

function wordsFor(language: string, problem: PageProblem): Words {
  switch (problem.kind) {
    case "expired":
      return {
        title: problem.by === undefined ? "page.expired.title" : `page.expired.title.${problem.by}`,
        details: richMessage(language, problem.by === undefined ? "expired" : `expired.${problem.by}`, {
          ended: <Instant language={language} ms={problem.endedMs} />,
        }),
        next: problem.by === undefined ? "page.expired.next" : "page.expired.ask",
      };
    case "disabled":
      return {
        title: "page.disabled.title",
        details: message(language, `disabled.${problem.reason}`),
        next: nextStep(problem.reason),
      };
    case "limited":
      return {
        title: "page.limited.title",
        details: message(language, "page.limited.when", { when: whenIn(language, problem.seconds) }),
        next: "page.limited.next",
        again: true,
      };
    case "unavailable":
    case "overloaded":
      return { title: "page.unavailable.title", next: "page.unavailable.next", again: true };
    case "internal":
      return { title: "page.internal.title", next: "page.internal.next", again: true };
    // To a visitor, an invalid code is an unknown one.
    case "invalid":
    case "taken":
    case "unknown":
    case "not-found":
      return { title: "page.unknown.title", next: "page.unknown.next" };
  }
}

interface BannerProps {
  readonly text: string;
  readonly next?: string;
  /** Whether the destination is dangerous. */
  readonly isAlarm?: boolean;
}

/** Why a link doesn't redirect: an alarm if its destination is dangerous, otherwise a calm sentence. */
export function StateBanner({ text, next, isAlarm = false }: BannerProps) {
  return (
    <div class={isAlarm ? "state alarm" : "state"}>
      <p>{text}</p>
      {next !== undefined && <p>{next}</p>}
    </div>
  );
}

export function isDangerous(reason: DisabledReason): boolean {
  return nextStep(reason) === "page.disabled.danger";
}

/** The reader's next step after opening a disabled link. */
export function nextStep(reason: DisabledReason): MessageKey {
  switch (reason) {
    case "malware":
    case "phishing":
    case "blocklist":
      return "page.disabled.danger";
    case "deleted":
      return "page.disabled.deleted";
    case "spam":
    case "illegal":
    case "legal":
    case "other":
      return "page.disabled.next";
  }
}

function render(language: string, problem: PageProblem, address: Child): Page {
  const words = wordsFor(language, problem);
  const [title, next] = [message(language, words.title), message(language, words.next)];
  return page(
    language,
    { title },
    <>
      {problem.kind === "expired" ? (
        <Ticket
          state="torn"
          stub={
            <>
              {address}
              <h1>{title}</h1>
            </>
          }
        >
          <p>{words.details}</p>
          <p class="soft">{next}</p>
        </Ticket>
      ) : (
        <div class={problem.kind === "disabled" && isDangerous(problem.reason) ? "state alarm" : undefined}>
          <h1>{title}</h1>
          {problem.kind === "disabled" && address}
          {words.details !== undefined && <p>{words.details}</p>}
          <p class="soft">{next}</p>
        </div>
      )}
      {words.again === true && (
        <p>
          <a class="button" href="">
            {message(language, "page.again")}
          </a>
        </p>
      )}
      <p>
        <a href="/">{message(language, "page.home")}</a>
      </p>
    </>,
  );
}

/** The page that crawlers get for a link with a limited number of visits. It is the same for all links. */
export const crawlerPage = memoize((language) => {
  const title = message(language, "counted.title");
  return page(
    language,
    { title },
    <>
      <h1>{title}</h1>
      <p>{message(language, "counted.next")}</p>
    </>,
  );
});
