const ENTITIES: Record<string, string> = { lt: "<", gt: ">", quot: '"', "#39": "'", amp: "&" };
/** Text of a page with its entities decoded. */
export const decoded = (html: string) =>
  html.replaceAll(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => ENTITIES[name] ?? "");
/** Splits a curl sample into words as a POSIX shell does. */
export function readCurl(command: string) {
  const words = [...command.replaceAll("\\\n", " ").matchAll(/(?:'[^']*'|\\'|[^\s'\\])+/g)].map(([word]) =>
    word.replaceAll(/'([^']*)'|\\(')/g, (_, quoted?: string, escaped?: string) => quoted ?? escaped ?? ""),
  );
  const after = (option: string) => (words.includes(option) ? words[words.indexOf(option) + 1] : undefined);
  const headers = words.flatMap((word, at) => (words[at - 1] === "-H" ? [word.split(": ")] : []));
  return {
    url: words.find((word) => word.startsWith("http")) ?? "",
    method: after("-X") ?? "GET",
    headers: Object.fromEntries(headers) as Record<string, string>,
    body: after("-d"),
  };
}

export const textOf = (html: string) => decoded(html.replaceAll(/<[^>]+>/g, ""));

/** The code of each sample by its language. */
export function samplesIn(section: string): Record<string, string> {
  return Object.fromEntries(
    [...section.matchAll(/<pre[^>]* data-sample="(\w+)">([\s\S]*?)<\/pre>/g)].map(([, name, code = ""]) => [
      name,
      textOf(code),
    ]),
  );
}
