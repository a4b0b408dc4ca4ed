/** Longer than any line of an export: a case has twenty notes, a day a few hundred values. */
const MAX_LINE_BYTES = 4 * 1024 * 1024;
/** What is read before the lines in it are returned. */
const BLOCK_BYTES = 512 * 1024;
const NEWLINE = 10;

/** A place between two lines. */
export interface Place {
  /** So many bytes come before it. */
  readonly end: number;
  /** Their hash. */
  readonly sha256: string;
}

/** Whole lines that stand together, and where the block ends. */
export interface Block extends Place {
  /** Undefined for a line that is too long or no UTF-8. */
  readonly lines: readonly (string | undefined)[];
  readonly beforeLast: Place;
}

/**
 * Reads lines in blocks, in bounded memory. A last line without an end of line is one, too. Begins after `from`, and throws
 * {@link OtherFile} if something else comes before that.
 */
export async function* readBlocks(bytes: AsyncIterable<Uint8Array>, from?: Place): AsyncGenerator<Block> {
  const hasher = new Bun.CryptoHasher("sha256");
  let end = 0;
  let rest: Uint8Array[] = [];
  let restBytes = 0;
  /** Whether `rest` goes on with a line that is too long. */
  let isCut = false;

  /** `all` ends with a newline, unless it is the last of the file. */
  function block(all: Uint8Array): Block {
    const last = all.length < 2 ? 0 : all.lastIndexOf(NEWLINE, all.length - 2) + 1;
    hasher.update(all.subarray(0, last));
    const beforeLast = { end: end + last, sha256: hasher.copy().digest("hex") };
    hasher.update(all.subarray(last));
    end += all.length;
    const lines = decode(all);
    if (isCut) lines[0] = undefined;
    isCut = false;
    return { lines, end, sha256: hasher.copy().digest("hex"), beforeLast };
  }

  /** Returns what comes after `from`. */
  function pass(chunk: Uint8Array): Uint8Array {
    if (from === undefined || end >= from.end) return chunk;
    const known = chunk.subarray(0, from.end - end);
    hasher.update(known);
    end += known.length;
    if (end === from.end && hasher.copy().digest("hex") !== from.sha256) throw new OtherFile();
    return chunk.subarray(known.length);
  }

  for await (const read of bytes) {
    const chunk = pass(read);
    rest.push(chunk);
    restBytes += chunk.length;
    if (restBytes < BLOCK_BYTES || (!chunk.includes(NEWLINE) && restBytes < MAX_LINE_BYTES)) continue;
    const all = Buffer.concat(rest);
    const length = all.lastIndexOf(NEWLINE) + 1;
    if (length > 0 || end === 0) {
      // A first line that is too long may have no end, and is no header.
      const whole = length > 0 ? all.subarray(0, length) : all;
      yield block(whole);
      rest = [all.subarray(whole.length)];
      restBytes = all.length - whole.length;
    } else {
      // One line that is too long. It is told once its end is there.
      hasher.update(all);
      end += all.length;
      rest = [];
      restBytes = 0;
      isCut = true;
    }
  }
  if (end < (from?.end ?? 0)) throw new OtherFile();
  if (restBytes > 0 || isCut) yield block(Buffer.concat(rest));
}

/** It does not begin like the one that was read before. */
export class OtherFile extends Error {
  override readonly name = "OtherFile";
}

function decode(bytes: Uint8Array): (string | undefined)[] {
  const text = utf8(bytes);
  const lines = text === undefined ? decodeEach(bytes) : text.split("\n");
  // What follows the last newline is no line.
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
