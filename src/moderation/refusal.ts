import { MAX_NOTE_LENGTH } from "./case.ts";

/** Why a decision is refused. `rule` is also the key of the message in the language catalogues. */
export type DecisionRefusal =
  | { rule: "action.unknown" | "reason.unknown"; values: string }
  | NoteRefusal
  | { rule: "host.invalid" | "owner.name" }
  | { rule: "host.own" }
  | { rule: "host.suffix"; host: string }
  | { rule: "host.too-many"; max: number };

/** A decision has wrong values. All of them are reported together, and nothing was changed. */
export interface RefusedDecision {
  readonly kind: "refused";
  readonly refusals: readonly DecisionRefusal[];
}

export type NoteRefusal = { rule: "note.too-long"; max: number } | { rule: "note.ill-formed" };

/** Checks the length of a note. It may contain any characters, so show it as text only. */
export function refuseNote(note = ""): NoteRefusal[] {
  const isTooLong = note.length > MAX_NOTE_LENGTH * 2 || Array.from(note).length > MAX_NOTE_LENGTH;
  if (isTooLong) return [{ rule: "note.too-long", max: MAX_NOTE_LENGTH }];
  return note.isWellFormed() ? [] : [{ rule: "note.ill-formed" }];
}
