/** @jsxImportSource ../shared/html */
import type { Page } from "../../http/page.ts";
import type { PageProblem } from "../../http/problems.ts";
import { memoize } from "../../lib/memoize.ts";
import type { DisabledReason } from "../../links/problem.ts";
import { message, type MessageKey } from "../../locales/messages.ts";
import { whenIn } from "../../locales/relative-time.ts";
import { Chip } from "../shared/chip.tsx";
import type { Child } from "../shared/html/jsx-runtime.ts";
import { richMessage } from "../shared/in-words.ts";
import { Instant } from "../shared/instant.tsx";
import { MY_LINKS_PATH, page } from "../shared/layout.tsx";
import { memoizePage } from "../shared/memoized-page.ts";
import { Ticket, TicketAddress } from "../shared/ticket.tsx";

interface Words {
  readonly title: MessageKey;
  /** Details, if the title doesn't say everything. */
  readonly details?: Child;
  /** The reader's next step. */
  readonly next: MessageKey;
  /** Whether to offer a retry. */
  readonly again?: boolean;
}

/** Those with a title, a text and a next step. */
type Shown = Exclude<PageProblem, { kind: "disabled" }>;

/** Says why an address doesn't work, and what to do next. */
export function problemPage(language: string, problem: PageProblem, baseUrl = "", code = ""): Page {
  return memoizedPage(JSON.stringify([language, problem, baseUrl]), code);
}

/** Rendering takes as long as several redirects, and the same few pages are requested again and again. */
const memoizedPage = memoizePage((key, code) => {
  const [language, problem, baseUrl] = JSON.parse(key) as [string, PageProblem, string];
  const address = <TicketAddress baseUrl={baseUrl} code={code} />;
  return problem.kind === "disabled"
    ? renderDisabled(language, problem.reason, address)
    : render(language, problem, address);
});

function wordsFor(language: string, problem: Shown): Words {
  switch (problem.kind) {
    case "expired":
      return {
        title: problem.by === undefined ? "page.expired.title" : `page.expired.title.${problem.by}`,
        details: richMessage(language, problem.by === undefined ? "expired" : `expired.${problem.by}`, {
          ended: <Instant language={language} ms={problem.endedMs} />,
        }),
        next: problem.by === undefined ? "page.expired.next" : "page.expired.ask",
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
      return { title: "page.unknown.title", next: "page.unknown.next.ignore" };
  }
}

function render(language: string, problem: Shown, address: Child): Page {
  const { title: key, details, next, again = false } = wordsFor(language, problem);
  const title = message(language, key);
  return page(
    language,
    { title },
    <>
      <h1>{title}</h1>
      <p class="lead">
        {problem.kind !== "expired" && details !== undefined && [details, " "]}
        {message(language, next)}
      </p>
      {problem.kind === "expired" && (
        <div class="columns wide">
          <TornTicket
            address={address}
            chip={<Chip kind="ended">{message(language, "chip.ended")}</Chip>}
            text={details}
          />
          <aside>
            <h2>{message(language, "page.expired.yours")}</h2>
            <p>{message(language, "page.expired.manage")}</p>
            <a class="button" href={MY_LINKS_PATH}>
              {message(language, "links.title")}
            </a>
          </aside>
        </div>
      )}
      {again && (
        <a class="button primary" href="">
          {message(language, "page.again")}
        </a>
      )}
    </>,
  );
}

function renderDisabled(language: string, reason: DisabledReason, address: Child): Page {
  const title = message(language, "page.disabled.title");
  const why = message(language, `disabled.${reason}`);
  const steps = nextSteps(reason);
  return page(
    language,
    { title },
    <>
      {isDangerous(reason) ? (
        <StopBand language={language} reason={reason}>
          {address}
        </StopBand>
      ) : (
        <>
          <h1>{title}</h1>
          <p class="lead">{why}</p>
        </>
      )}
      <div class="columns wide">
        {isDangerous(reason) ? (
          <section>
            <h2>{message(language, "page.disabled.visitor")}</h2>
            <ul class="steps">
              {steps.map((step) => (
                <li>{message(language, step)}</li>
              ))}
            </ul>
          </section>
        ) : (
          <TornTicket
            address={address}
            chip={<Chip kind="refused">{message(language, "links.disabled")}</Chip>}
            text={steps.map((step) => message(language, step))}
          />
        )}
        <aside>
          <h2>{message(language, "page.disabled.maker")}</h2>
          <p>{message(language, "page.disabled.mistake")}</p>
        </aside>
      </div>
    </>,
  );
}

interface StopBandProps {
  readonly language: string;
  readonly reason: DisabledReason;
  /** The link's address. */
  readonly children: Child;
}

/** The alarm of a link whose destination is dangerous. */
export function StopBand({ language, reason, children }: StopBandProps) {
  return (
    <section class="stop wide">
      {children}
      <h1>{message(language, "page.disabled.title")}</h1>
      <p>{message(language, `disabled.${reason}`)}</p>
    </section>
  );
}

interface TornTicketProps {
  readonly address: Child;
  readonly chip: Child;
  readonly text: Child;
}

/** A link that no longer redirects. */
function TornTicket({ address, chip, text }: TornTicketProps) {
  return (
    <Ticket
      state="torn"
      stub={
        <>
          {address}
          {chip}
        </>
      }
    >
      <p>{text}</p>
    </Ticket>
  );
}

export function isDangerous(reason: DisabledReason): boolean {
  return nextSteps(reason).length > 1;
}

const DANGER = ["page.disabled.danger", "page.disabled.password", "page.disabled.sender"] as const;

/** The reader's next steps after opening a disabled link. @internal */
export function nextSteps(reason: DisabledReason): readonly MessageKey[] {
  switch (reason) {
    case "malware":
    case "phishing":
    case "blocklist":
      return DANGER;
    case "deleted":
      return ["page.disabled.deleted"];
    case "spam":
    case "illegal":
    case "legal":
    case "other":
      return ["page.disabled.next"];
  }
}

/** The page that crawlers get for a link with a limited number of visits. It is the same for all links. */
export const crawlerPage = memoize((language) => {
  const title = message(language, "counted.title");
  return page(
    language,
    { title },
    <>
      <h1>{title}</h1>
      <p class="lead">{message(language, "counted.next")}</p>
    </>,
  );
});
