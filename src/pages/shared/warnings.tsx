/** @jsxImportSource ./html */
import type { Link } from "../../links/link.ts";
import { DAY_MS, HOUR_MS } from "../../links/time.ts";
import { message } from "../../locales/messages.ts";
import { relativeTime } from "../../locales/relative-time.ts";
import type { Hint } from "../../moderation/link-hints.ts";
import { describeDestination, type Destination } from "./destination-parts.ts";
import type { Child } from "./html/jsx-runtime.ts";
import { richMessage, sentences } from "./in-words.ts";
import { Instant } from "./instant.tsx";
import type { Changed } from "./link-facts.tsx";

/** The facts about a link that matter to somebody who is about to follow it. */
export interface LinkNotes {
  readonly hints: readonly Hint[];
  readonly changed?: Changed | undefined;
  /** Set if it ends soon. */
  readonly minutesLeft?: number | undefined;
  readonly endsMs: number;
}

/** Warnings of what could deceive, and what is merely good to know. */
interface Notes {
  readonly warnings: readonly Child[];
  readonly notes: readonly Child[];
}

/** Kinds that are seldom an accident. Their texts start with words such as "Take care". */
const WARNINGS: ReadonlySet<Hint["hint"]> = new Set(["front", "changed"]);
const MINUTE_MS = 60_000;
const TWO_HOURS_MINUTES = 120;

/** `destination` is undefined if it is secret, behind the link's password. */
export function notesOf(language: string, link: LinkNotes, destination: Destination | undefined): Notes {
  const { hints, changed, minutesLeft, endsMs } = link;
  const isFresh = hints.some(({ hint }) => hint === "changed");
  const former = changed?.formerHost && <Former language={language} host={changed.formerHost} />;
  const describeHints = (isWarning: boolean) =>
    hints
      .filter(({ hint }) => WARNINGS.has(hint) === isWarning)
      .map((hint) => sentences(language, describeHint(language, hint), hint.hint === "changed" && former));
  return {
    warnings: [
      ...(destination?.isMistakable === true
        ? [<Mistakable language={language} letters={destination.letters} />]
        : []),
      ...describeHints(true),
    ],
    notes: [
      ...(changed !== undefined && !isFresh
        ? [sentences(language, message(language, "hint.edited"), former)]
        : []),
      ...describeHints(false),
      ...(destination?.isHttp === true ? [message(language, "hint.http")] : []),
      ...(minutesLeft === undefined ? [] : [describeEnd(language, minutesLeft, endsMs)]),
    ],
  };
}

/**
 * Minutes until a link ends, rounded up; undefined if it has ended or lasts for more than a day. Above two hours, these are
 * whole hours, so that a page with them seldom changes.
 */
export function minutesLeftOf({ endsMs }: Pick<Link, "endsMs">, nowMs: number): number | undefined {
  const leftMs = endsMs - nowMs;
  if (leftMs <= 0 || leftMs > DAY_MS) return undefined;
  const stepMs = leftMs > 2 * HOUR_MS ? HOUR_MS : MINUTE_MS;
  return (Math.ceil(leftMs / stepMs) * stepMs) / MINUTE_MS;
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

/** The host is in ASCII, which nobody recognises, so this shows its letters. */
function Mistakable({ language, letters }: { language: string; letters: string | undefined }) {
  return sentences(
    language,
    message(language, "preview.mistakable"),
    letters !== undefined && richMessage(language, "preview.letters", { name: <bdi>{letters}</bdi> }),
  );
}

function Former({ language, host: ascii }: { language: string; host: string }) {
  const { host, asciiHost } = describeDestination(`https://${ascii}/`);
  const name = asciiHost === undefined ? host : `${host} (${asciiHost})`;
  return richMessage(language, "preview.former", { host: <bdi dir="ltr">{name}</bdi> });
}

function describeEnd(language: string, minutesLeft: number, endsMs: number): Child {
  const left =
    minutesLeft <= TWO_HOURS_MINUTES
      ? relativeTime(language).format(minutesLeft, "minute")
      : relativeTime(language).format(Math.ceil(minutesLeft / 60), "hour");
  return richMessage(language, "hint.ending", { left, ends: <Instant language={language} ms={endsMs} /> });
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
