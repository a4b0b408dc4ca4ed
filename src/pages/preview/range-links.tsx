/** @jsxImportSource ../shared/html */
import { message } from "../../locales/messages.ts";
import type { ShownRange } from "./ranges.ts";

export interface RangesProps {
  readonly language: string;
  readonly range: ShownRange;
  /** Other parameters that the address of the page has. */
  readonly carried: Readonly<Record<string, string>>;
}

/** Links to the same page with another range, or with other bars. The script follows them without leaving the page. */
export function Ranges({ language, range: { name, names, interval, intervals }, carried }: RangesProps) {
  const address = (parameters: Record<string, string>) =>
    `?${new URLSearchParams({ ...parameters, ...carried }).toString()}`;
  if (names.length === 1 && intervals.length === 1) return null;
  return (
    <div class="ranges">
      {names.length > 1 && (
        <nav aria-label={message(language, "preview.range")}>
          {names.map((range) => (
            <a
              id={`range-${range}`}
              href={address({ range })}
              rel="nofollow"
              {...(range === name && { "aria-current": "true" })}
            >
              {message(language, `preview.range.${range}`)}
            </a>
          ))}
        </nav>
      )}
      {intervals.length > 1 && (
        <nav aria-label={message(language, "preview.by")}>
          {intervals.map((by) => (
            <a
              id={`by-${by}`}
              href={address({ range: name, by })}
              rel="nofollow"
              {...(by === interval && { "aria-current": "true" })}
            >
              {message(language, `preview.by.${by}`)}
            </a>
          ))}
        </nav>
      )}
    </div>
  );
}
