/** `Content-Disposition` for a file that is named after a code (RFC 6266, section 4.3). `name` is for old clients, in ASCII. */
export function fileName(
  kind: "inline" | "attachment",
  code: string,
  name: string,
  extension: string,
): string {
  if (/^[\w-]+$/.test(code)) return `${kind}; filename="${code}.${extension}"`;
  // RFC 8187, section 3.2.1. Of what encodeURIComponent leaves as it is, a code can have *, in a keycap.
  const encoded = encodeURIComponent(code).replaceAll("*", "%2A");
  return `${kind}; filename="${name}.${extension}"; filename*=UTF-8''${encoded}.${extension}`;
}
