/** An address as people read it, where it can be read. */
export function withoutScheme(url: string): string {
  const bare = url.replace(/^https?:\/\//i, "");
  try {
    return decodeURI(bare);
  } catch {
    return bare;
  }
}
