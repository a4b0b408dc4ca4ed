import { NEVER_IN_CODES } from "./code.ts";

/** `origin` is undefined if only a code was given. */
export interface ShortAddress {
  readonly code: string;
  readonly origin: string | undefined;
}

/** The suffix of a code in addresses of pages and QR codes. */
const AFTER_CODE = /(?:\+[a-z]*|\.(?:svg|png))$/;

/** Reads a short address as people share it, with or without its scheme, or a code alone. Undefined if it is neither. */
export function readShortAddress(written: string): ShortAddress | undefined {
  const text = written.trim().toWellFormed();
  if (!text.includes("/")) return withoutSuffix(text, undefined);
  const url = URL.parse(/^https?:\/\//i.test(text) ? text : `https://${text}`);
  if (url === null) return undefined;
  const [, segment = "", ...more] = url.pathname.split("/");
  if (more.join("") !== "") return undefined;
  try {
    return withoutSuffix(decodeURIComponent(segment), url.origin);
  } catch {
    // It is not percent-encoded UTF-8.
    return undefined;
  }
}

function withoutSuffix(spelling: string, origin: string | undefined): ShortAddress | undefined {
  const code = spelling.replace(AFTER_CODE, "");
  return code === "" || code.includes("/") || NEVER_IN_CODES.test(code) ? undefined : { code, origin };
}
