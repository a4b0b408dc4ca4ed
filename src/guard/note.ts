import { type Invalid, invalid } from "../links/problem.ts";

/** In code points. */
export const MAX_NOTE_LENGTH = 2000;

/** Reads a note that somebody wrote for the operator. It may contain any characters, so show it as text only. */
export function parseNote(written: string): string | undefined | Invalid {
  if (!written.isWellFormed()) return invalid({ rule: "note.ill-formed" });
  const isTooLong = written.length > MAX_NOTE_LENGTH * 2 || Array.from(written).length > MAX_NOTE_LENGTH;
  if (isTooLong) return invalid({ rule: "note.too-long", max: MAX_NOTE_LENGTH });
  return written.trim() === "" ? undefined : written;
}
