/** The short address of a code, in readable Unicode. The only character a code can have that would end a path is #. */
export function shortUrl(baseUrl: string, code: string): string {
  return `${baseUrl}/${code.replaceAll("#", "%23")}/`;
}
