/** @jsxImportSource hono/jsx */

/** An instant in words, in UTC until a script of ours knows the reader's zone; programs can read it, too. */
export function Instant({ language, ms }: { language: string; ms: number }) {
  const words = new Intl.DateTimeFormat(language, { dateStyle: "long", timeStyle: "long", timeZone: "UTC" });
  return <time datetime={new Date(ms).toISOString()}>{words.format(ms)}</time>;
}
