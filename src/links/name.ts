export const MAX_NAME_LENGTH = 64;

/** Whether a text may name an operator or a caller. */
export function isName(text: string): boolean {
  return text.length <= MAX_NAME_LENGTH && /^[\w.@-]+$/.test(text);
}
