/** @jsxImportSource ./html */
import { memoize } from "../../lib/memoize.ts";

/** A date and time in UTC. The browser script changes it to the reader's time zone. */
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
