// PostgreSQL refuses text with a NUL.

/** Nothing can be found by a text that is not, so the database need not be asked. */
export function isStorable(text: string): boolean {
  return !text.includes("\0");
}

/** For text that may contain any characters: it is kept as UTF-8. */
export function bytesOf(text: string): Uint8Array {
  return Buffer.from(text);
}

export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}
