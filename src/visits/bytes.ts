/**
 * Writes bytes one after the other. A number is whole, from 0 to 2⁵³ − 1, and takes seven bits a byte, the lowest first
 * (LEB128).
 */
export function createBytes() {
  let buffer = Buffer.allocUnsafe(256);
  let length = 0;

  function reserve(bytes: number): void {
    if (length + bytes <= buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(length + bytes, 2 * buffer.length));
    buffer.copy(larger, 0, 0, length);
    buffer = larger;
  }

  return {
    number(value: number): void {
      reserve(8);
      let rest = value;
      for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) buffer[length++] = (rest % 0x80) | 0x80;
      buffer[length++] = rest;
    },
    /** A uint32 in four bytes: hashes are hardly ever shorter. */
    word(value: number): void {
      reserve(4);
      length = buffer.writeUInt32LE(value, length);
    },
    add(bytes: Uint8Array): void {
      reserve(bytes.length);
      buffer.set(bytes, length);
      length += bytes.length;
    },
    /** A copy of what was written since `clear`. */
    take: (): Uint8Array => new Uint8Array(buffer.subarray(0, length)),
    clear(): void {
      length = 0;
    },
  };
}

export type Bytes = ReturnType<typeof createBytes>;

/** Reads what {@link createBytes} wrote. Throws if the bytes end too early. */
export function readBytes(bytes: Uint8Array) {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;

  /** Returns where they start. */
  function pass(count: number): number {
    const start = at;
    at += count;
    if (at > buffer.length) throw new RangeError(`${buffer.length} bytes end too early`);
    return start;
  }

  return {
    hasMore: () => at < buffer.length,
    number(): number {
      let value = 0;
      for (let unit = 1; ; unit *= 0x80) {
        const byte = buffer[pass(1)] ?? 0;
        value += (byte & 0x7f) * unit;
        if (byte < 0x80) return value;
      }
    },
    word: (): number => buffer.readUInt32LE(pass(4)),
    text: (length: number): string => buffer.toString("utf8", pass(length), at),
    /** No copy. */
    part: (length: number): Uint8Array => buffer.subarray(pass(length), at),
  };
}

export type BytesReader = ReturnType<typeof readBytes>;
