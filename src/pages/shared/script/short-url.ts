/** A URL for people to read: without scheme, and with percent-encoding decoded if that is possible. */
export function withoutScheme(url: string): string {
  const bare = url.replace(/^https?:\/\//i, "");
  try {
    return decodeURI(bare);
  } catch {
    return bare;
  }
}
