/** @jsxImportSource hono/jsx */

import { remembering } from "../remembering.ts";

/** An instant in words, in UTC until a script of ours knows the reader's zone; programs can read it, too. */
export function Instant({ language, ms }: { language: string; ms: number }) {
  return <time datetime={new Date(ms).toISOString()}>{words(language).format(ms)}</time>;
}

const words = remembering(
  (language) => new Intl.DateTimeFormat(language, { dateStyle: "long", timeStyle: "long", timeZone: "UTC" }),
);
