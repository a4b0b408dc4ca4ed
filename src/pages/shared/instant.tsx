/** @jsxImportSource ./html */
import { memoize } from "../../lib/memoize.ts";

/** A date and time in UTC. The browser script changes it to the reader's time zone. */
export function Instant({ language, ms }: { language: string; ms: number }) {
  return <time datetime={new Date(ms).toISOString()}>{words(language).format(ms)}</time>;
}

interface InstantInProps {
  readonly language: string;
  /** A message, and what stands in it for the instant. */
  readonly text: string;
  readonly place: string;
  readonly ms: number;
}

export function InstantIn({ language, text, place, ms }: InstantInProps) {
  const [before, after] = text.split(place);
  return (
    <>
      {before}
      {after !== undefined && (
        <>
          <Instant language={language} ms={ms} />
          {after}
        </>
      )}
    </>
  );
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
