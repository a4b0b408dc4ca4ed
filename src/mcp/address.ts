/** In UTF-16 units: enough for every spelling of a short address. */
export const MAX_ADDRESS_LENGTH = 4096;

/** What follows a code in the addresses of its pages and its QR codes. No code has a plus or a dot. */
const AFTER_CODE = /(?:\+[a-z]*|\.(?:svg|png))$/;

/** `host` as in `URL.host`; undefined if only a code was given. */
export interface ShortAddress {
  readonly code: string;
  readonly host: string | undefined;
}

/** Reads a short address, with or without its scheme, or a code alone. Undefined if it is neither. */
export function readShortAddress(written: string): ShortAddress | undefined {
  const text = written.trim().toWellFormed();
  if (!text.includes("/")) return short(text, undefined);
  const url = URL.parse(/^https?:\/\//i.test(text) ? text : `http://${text}`);
  if (url === null) return undefined;
  const [, segment = "", ...more] = url.pathname.split("/");
  if (more.join("") !== "") return undefined;
  try {
    return short(decodeURIComponent(segment), url.host);
  } catch {
    // It is not percent-encoded UTF-8.
    return undefined;
  }
}

function short(spelling: string, host: string | undefined): ShortAddress | undefined {
  const code = spelling.replace(AFTER_CODE, "");
  return code === "" || /[+./]/.test(code) ? undefined : { code, host };
}
