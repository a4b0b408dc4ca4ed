/** Whether the caller says that it has this answer (RFC 9110, section 13.1.2); `tag` with its quotes. */
export function knowsAlready(headers: Headers, tag: string): boolean {
  const known = headers.get("if-none-match");
  if (known === null) return false;
  const opaque = tag.replace(/^W\//, "");
  return known.trim() === "*" || known.match(/"[^"]*"/g)?.some((one) => one === opaque) === true;
}
