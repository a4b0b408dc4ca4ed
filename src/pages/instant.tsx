/** @jsxImportSource hono/jsx */

import { memoize } from "../memoize.ts";

/** An instant in words, in UTC until a script of ours knows the reader's zone; programs can read it, too. */
export function Instant({ language, ms }: { language: string; ms: number }) {
  return <time datetime={new Date(ms).toISOString()}>{words(language).format(ms)}</time>;
}

const words = memoize(
  (language) =>
    new Intl.DateTimeFormat(language, {
      year: "numeric",
      month: "long",
      day: "numeric",
      hour: "numeric",
      minute: "2-digit",
      timeZone: "UTC",
      timeZoneName: "short",
    }),
);
