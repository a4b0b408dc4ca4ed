// PostgreSQL refuses text with a NUL.

/** Other texts are in no column, so nobody has to ask for them. */
export function isStorable(text: string): boolean {
  return !text.includes("\0");
}

/** What may contain any characters is kept as UTF-8. */
export function bytesOf(text: string): Uint8Array {
  return Buffer.from(text);
}

export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}
