/** Whether the caller says that it has this answer (RFC 9110, section 13.1.2); `tag` with its quotes. */
export function knowsAlready(headers: Headers, tag: string): boolean {
  const known = headers.get("if-none-match");
  if (known === null) return false;
  const opaque = tag.replace(/^W\//, "");
  return known.trim() === "*" || known.match(/"[^"]*"/g)?.some((one) => one === opaque) === true;
}

/**
 * The tag of an answer that is made of these parts and nothing else. It is known before the answer is made, so an answer
 * that the caller has is not made again. If the coding may differ, put `W/` before it (RFC 9110, section 8.8.1).
 */
export function tagOf(parts: readonly unknown[]): string {
  return `"${Bun.hash(JSON.stringify(parts)).toString(36)}"`;
}
