export interface Route {
  /** In Hono's terms, without and with a slash at the end. */
  readonly patterns: readonly string[];
  /** The code in what a pattern's `:code` took. */
  codeIn(segment: string | undefined): string;
  /** Whether it is one address, without a code. */
  readonly isFixed: boolean;
}

const CODE = /\{code\}([^/]*)/;

/**
 * Reads a route as OpenAPI writes it: /api/v1/links/{code}, /{code}.svg or /{code}+. What follows a code in its
 * segment begins with a + or a ., which no code has, so the code in front of it ends there.
 */
export function readRoute(path: string): Route {
  const code = CODE.exec(path);
  const suffix = code?.[1] ?? "";
  const parameter = suffix === "" ? ":code" : `:code{[^/+.]+${RegExp.escape(suffix)}}`;
  const pattern = path.replace(CODE, () => parameter);
  return {
    patterns: path === "/" ? [path] : [pattern, `${pattern}/`],
    codeIn: (segment = "") => segment.slice(0, segment.length - suffix.length),
    isFixed: code === null,
  };
}

/** Decodes each %2B and %2E of a path, so that /abc%2B is routed like /abc+. */
export function spelledOut(path: string): string {
  return path.replaceAll(/%2[be]/gi, decodeURIComponent);
}
