export function withQuery(path: string, query: Readonly<Record<string, string>>): string {
  const text = new URLSearchParams(query).toString();
  return text === "" ? path : `${path}?${text}`;
}

/** The address of a page about a visit. `visited`: the path after the code, or "". */
export function withPathOf(page: string, visited: string): string {
  return withQuery(page, visited === "" ? {} : { path: visited });
}
