/** @jsxImportSource ./html */
import { message, sentenceSpace } from "../../locales/messages.ts";
import type { Hint } from "../../moderation/link-hints.ts";
import { describeDestination, type Destination } from "./destination-parts.ts";
import type { Child } from "./html/jsx-runtime.ts";
import { InstantIn } from "./instant.tsx";
import type { Changed } from "./lifetime.tsx";
import { relativeTime } from "./time-words.ts";

/** What there is to say about a link to somebody who thinks about following it. */
export interface Noted {
  readonly hints: readonly Hint[];
  readonly changed?: Changed | undefined;
  /** Set if it ends soon. */
  readonly minutesLeft?: number | undefined;
  readonly endsMs: number;
}

/** Warnings of what could deceive, and what is merely good to know. */
export interface Notes {
  readonly warnings: readonly Child[];
  readonly notes: readonly Child[];
}

/** Kinds that are seldom an accident. Their texts begin with words such as "Take care". */
const WARNINGS: ReadonlySet<Hint["hint"]> = new Set(["front", "changed"]);
const TWO_HOURS_MINUTES = 120;

/** `destination` is undefined if only those who know the link's password are told. */
export function notesOf(language: string, link: Noted, destination: Destination | undefined): Notes {
  const { hints, changed, minutesLeft, endsMs } = link;
  const isFresh = hints.some(({ hint }) => hint === "changed");
  const former = changed?.formerHost && <Former language={language} host={changed.formerHost} />;
  const told = (isWarning: boolean) =>
    hints
      .filter(({ hint }) => WARNINGS.has(hint) === isWarning)
      .map((hint) => [describeHint(language, hint), hint.hint === "changed" && former]);
  return {
    warnings: [
      ...(destination?.isMistakable === true
        ? [<Mistakable language={language} letters={destination.letters} />]
        : []),
      ...told(true),
    ],
    notes: [
      ...(changed !== undefined && !isFresh ? [[message(language, "hint.edited"), former]] : []),
      ...told(false),
      ...(destination?.isHttp === true ? [message(language, "hint.http")] : []),
      ...(minutesLeft === undefined
        ? []
        : [<Ending language={language} minutesLeft={minutesLeft} endsMs={endsMs} />]),
    ],
  };
}

export function NoteList({ kind, notes }: { kind: "warnings" | "hints"; notes: readonly Child[] }): Child {
  if (notes.length === 0) return undefined;
  return (
    <ul class={kind}>
      {notes.map((note) => (
        <li>{note}</li>
      ))}
    </ul>
  );
}

/** The host is shown in ASCII, which nobody recognises, so its letters are shown as well. */
function Mistakable({ language, letters }: { language: string; letters: string | undefined }) {
  const [before, after] = message(language, "preview.letters").split("{name}");
  return (
    <>
      {message(language, "preview.mistakable")}
      {letters !== undefined && (
        <>
          {sentenceSpace(language)}
          {before}
          <bdi>{letters}</bdi>
          {after}
        </>
      )}
    </>
  );
}

function Former({ language, host: ascii }: { language: string; host: string }) {
  const { host, asciiHost } = describeDestination(`https://${ascii}/`);
  const [before, after] = message(language, "preview.former").split("{host}");
  return (
    <>
      {sentenceSpace(language)}
      {before}
      <bdi dir="ltr">{asciiHost === undefined ? host : `${host} (${asciiHost})`}</bdi>
      {after}
    </>
  );
}

type EndingProps = Required<Pick<Noted, "minutesLeft" | "endsMs">> & { readonly language: string };

function Ending({ language, minutesLeft = 0, endsMs }: EndingProps) {
  const left =
    minutesLeft <= TWO_HOURS_MINUTES
      ? relativeTime(language).format(minutesLeft, "minute")
      : relativeTime(language).format(Math.ceil(minutesLeft / 60), "hour");
  return (
    <InstantIn
      language={language}
      text={message(language, "hint.ending", { left })}
      place="{ends}"
      ms={endsMs}
    />
  );
}

export function describeHint(language: string, hint: Hint): string {
  switch (hint.hint) {
    case "changed": {
      if (hint.hours === 0) return message(language, "hint.changed.fresh");
      const ago = relativeTime(language).format(-hint.hours, "hour");
      return message(language, "hint.changed", { ago });
    }
    case "address":
    case "port":
    case "shortener":
    case "front":
    case "labels": {
      const { hint: kind, ...values } = hint;
      return message(language, `hint.${kind}`, values);
    }
  }
}
