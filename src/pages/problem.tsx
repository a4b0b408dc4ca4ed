/** @jsxImportSource hono/jsx */
import { message } from "../language/messages.ts";
import { Instant } from "./instant.tsx";
import { page } from "./layout.tsx";

export type Ending = "unknown" | "expired" | "unavailable" | "internal";

/** Why a short address leads nowhere, and what to do next. `endedMs` says when an expired link ended. */
export function problemPage(language: string, ending: Ending, endedMs?: number): string {
  if (endedMs !== undefined) return render(language, ending, endedMs);
  const key = `${language} ${ending}`;
  const rendered = undated.get(key) ?? render(language, ending);
  undated.set(key, rendered);
  return rendered;
}

/** Pages without a date are the same for everyone; there are as many as languages and endings. */
const undated = new Map<string, string>();

function render(language: string, ending: Ending, endedMs?: number): string {
  const title = message(language, `page.${ending}.title`);
  return page(
    language,
    { title },
    <>
      <h1>{title}</h1>
      {endedMs !== undefined && <p>{expiredSentence(language, endedMs)}</p>}
      <p class="soft">{message(language, `page.${ending}.next`)}</p>
      {(ending === "unavailable" || ending === "internal") && (
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

function expiredSentence(language: string, endedMs: number) {
  const [before, after] = message(language, "expired").split("{ended}");
  return (
    <>
      {before}
      <Instant language={language} ms={endedMs} />
      {after}
    </>
  );
}
