export interface Route {
  /** In Hono's syntax, without and with a trailing slash. */
  readonly patterns: readonly string[];
  /** Takes the code out of what `:code` matched, which includes any suffix such as `.svg`. */
  codeIn(segment: string | undefined): string;
  /** True if the path has no code, so that it is a single address. */
  readonly isFixed: boolean;
}

const CODE = /\{(?:code|host)\}([^/]*)/;

/**
 * Reads a route in OpenAPI's syntax, such as /api/v1/links/{code}, /{code}.svg or /{code}+. A suffix after the code
 * begins with + or a dot. Codes cannot contain these, so it is clear where the code ends. A {host} is read as a code.
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

/** Decodes %2B and %2E in a path, so that /abc%2B is routed like /abc+. */
export function spelledOut(path: string): string {
  return path.replaceAll(/%2[be]/gi, decodeURIComponent);
}
