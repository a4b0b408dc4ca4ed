/** RFC 6750, section 2.1. "" if there is none. */
export function bearerToken(headers: Headers): string {
  return /^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1] ?? "";
}
