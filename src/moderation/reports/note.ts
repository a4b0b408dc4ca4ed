/** In code points. */
export const MAX_NOTE_LENGTH = 2000;

export type NoteRefusal = { rule: "note.too-long"; max: number } | { rule: "note.ill-formed" };

/** What is wrong with a note. Apart from that it may contain any characters, so show it as text only. */
export function refuseNote(note = ""): NoteRefusal[] {
  const isTooLong = note.length > MAX_NOTE_LENGTH * 2 || Array.from(note).length > MAX_NOTE_LENGTH;
  if (isTooLong) return [{ rule: "note.too-long", max: MAX_NOTE_LENGTH }];
  return note.isWellFormed() ? [] : [{ rule: "note.ill-formed" }];
}
