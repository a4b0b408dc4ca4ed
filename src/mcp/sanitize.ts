/**
 * Characters that nobody sees, in which text for a model could hide, except what codes and emoji need. Private and
 * unassigned ones are among them.
 */
const UNSEEN =
  /(?<emoji>\p{RGI_Emoji})|[[\p{C}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]--\p{Join_Control}--\u{FE0F}]/gv;

/**
 * Text from a service as a model gets it: of a bounded length, and without invisible characters, which are percent-encoded. In an
 * address, that changes nothing.
 */
export function plain(text: string, maxLength: number): string {
  const cut = text.slice(0, maxLength).toWellFormed();
  const shown = cut.replace(UNSEEN, (character, emoji?: string) => emoji ?? encodeURIComponent(character));
  return shown.length > maxLength || text.length > maxLength ? `${shown.slice(0, maxLength)}…` : shown;
}
