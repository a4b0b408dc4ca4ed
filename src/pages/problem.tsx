/** @jsxImportSource hono/jsx */
import type { Child } from "hono/jsx";

import { message, type MessageKey } from "../language/messages.ts";
import type { Problem } from "../links/problem.ts";
import { Instant } from "./instant.tsx";
import { page } from "./layout.tsx";

/** What can be wrong at an address that people open. */
export type PageProblem = Problem | { kind: "not-found" } | { kind: "unavailable" } | { kind: "internal" };

interface Words {
  readonly title: MessageKey;
  /** What happened, where the title does not say it all. */
  readonly told?: Child;
  /** What the reader can do about it. */
  readonly next: MessageKey;
  /** Whether the same address may answer in a moment. */
  readonly again?: boolean;
}

/** Why an address leads nowhere, and what to do next. */
export function problemPage(language: string, problem: PageProblem): string {
  // A problem that is no more than its kind has one page for everyone.
  if (Object.keys(problem).length > 1) return render(language, problem);
  const key = `${language} ${problem.kind}`;
  const rendered = known.get(key) ?? render(language, problem);
  known.set(key, rendered);
  return rendered;
}

/** Bounded by the number of languages and kinds. */
const known = new Map<string, string>();

/** The one place where a problem's page gets its words. */
function wordsFor(language: string, problem: PageProblem): Words {
  switch (problem.kind) {
    case "expired":
      return {
        title: "page.expired.title",
        told: <Expired language={language} endedMs={problem.endedMs} />,
        next: "page.expired.next",
      };
    case "unavailable":
      return { title: "page.unavailable.title", next: "page.unavailable.next", again: true };
    case "internal":
      return { title: "page.internal.title", next: "page.internal.next", again: true };
    // A code that cannot be made leads nowhere either.
    case "invalid":
    case "taken":
    case "unknown":
    case "not-found":
      return { title: "page.unknown.title", next: "page.unknown.next" };
  }
}

function render(language: string, problem: PageProblem): string {
  const words = wordsFor(language, problem);
  const title = message(language, words.title);
  return page(
    language,
    { title },
    <>
      <h1>{title}</h1>
      {words.told !== undefined && <p>{words.told}</p>}
      <p class="soft">{message(language, words.next)}</p>
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

function Expired({ language, endedMs }: { language: string; endedMs: number }) {
  const [before, after] = message(language, "expired").split("{ended}");
  return (
    <>
      {before}
      <Instant language={language} ms={endedMs} />
      {after}
    </>
  );
}
