/**
 * Yields the lines that arrive together, without empty ones. A longer line than `maxLength` may be cut, to any length that is not
 * below `maxLength`, so that an endless one isn't collected.
 */
export async function* readLines(
  input: AsyncIterable<Uint8Array>,
  maxLength: number,
): AsyncGenerator<string[]> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of input) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = (lines.pop() ?? "").slice(0, maxLength);
    yield withText(lines);
  }
  yield withText([rest]);
}

function withText(lines: readonly string[]): string[] {
  return lines.map((line) => line.trim()).filter((line) => line !== "");
}
