/** Longer than any line of an export: a case has 20 notes, a day a few hundred values. */
const MAX_LINE_BYTES = 4 * 1024 * 1024;
/** The minimum size of a block that isn't the last one. */
const BLOCK_BYTES = 512 * 1024;
const NEWLINE = 10;

/** Consecutive whole lines. */
interface Block {
  /** Undefined for a line that is too long or isn't UTF-8. */
  readonly lines: readonly (string | undefined)[];
  /** The hash of all bytes before the last line. */
  readonly sha256: string;
}

/** Reads lines in blocks, in bounded memory. The last line may lack its line break. */
export async function* readBlocks(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Block> {
  const hasher = new Bun.CryptoHasher("sha256");
  let hasStarted = false;
  let rest: Uint8Array[] = [];
  let restBytes = 0;
  /** Whether `rest` continues a line that is too long. */
  let isCut = false;

  /** `all` ends with a newline, unless it is the last of the file. */
  function block(all: Uint8Array): Block {
    const last = all.length < 2 ? 0 : all.lastIndexOf(NEWLINE, all.length - 2) + 1;
    hasher.update(all.subarray(0, last));
    const sha256 = hasher.copy().digest("hex");
    hasher.update(all.subarray(last));
    const lines = decode(all);
    if (isCut) lines[0] = undefined;
    isCut = false;
    hasStarted = true;
    return { lines, sha256 };
  }

  for await (const chunk of bytes) {
    rest.push(chunk);
    restBytes += chunk.length;
    if (restBytes < BLOCK_BYTES || (!chunk.includes(NEWLINE) && restBytes < MAX_LINE_BYTES)) continue;
    const all = Buffer.concat(rest);
    const length = all.lastIndexOf(NEWLINE) + 1;
    if (length > 0 || !hasStarted) {
      // A first line that is too long may have no end, and is no header.
      const whole = length > 0 ? all.subarray(0, length) : all;
      yield block(whole);
      rest = [all.subarray(whole.length)];
      restBytes = all.length - whole.length;
    } else {
      // A line that is too long. It is reported when it ends.
      hasher.update(all);
      rest = [];
      restBytes = 0;
      isCut = true;
    }
  }
  if (restBytes > 0 || isCut) yield block(Buffer.concat(rest));
}

function decode(bytes: Uint8Array): (string | undefined)[] {
  const text = utf8(bytes);
  const lines = text === undefined ? decodeEach(bytes) : text.split("\n");
  // No line follows the last newline.
  if (bytes.at(-1) === NEWLINE) lines.pop();
  return lines;
}

function decodeEach(bytes: Uint8Array): (string | undefined)[] {
  const lines: (string | undefined)[] = [];
  for (let from = 0; from <= bytes.length;) {
    const newline = bytes.indexOf(NEWLINE, from);
    const to = newline < 0 ? bytes.length : newline;
    lines.push(utf8(bytes.subarray(from, to)));
    from = to + 1;
  }
  return lines;
}

function utf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
