/** Whether a text may name an operator or a caller. Quick for texts of any length. */
export function isName(text: string): boolean {
  return /^[\w.@-]{1,64}$/.test(text);
}
