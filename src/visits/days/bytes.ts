/** Writes bytes one after the other. Numbers are integers from 0 to 2⁵³ − 1 in LEB128: seven bits per byte. */
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
    /** A uint32 in four bytes, because hashes are rarely shorter in LEB128. */
    word(value: number): void {
      reserve(4);
      length = buffer.writeUInt32LE(value, length);
    },
    /** In UTF-8, without its length. */
    text(text: string): void {
      reserve(3 * text.length);
      length += buffer.write(text, length);
    },
    add(bytes: Uint8Array): void {
      reserve(bytes.length);
      buffer.set(bytes, length);
      length += bytes.length;
    },
    /** A copy of the bytes since `clear`. */
    take: (): Uint8Array => new Uint8Array(buffer.subarray(0, length)),
    clear(): void {
      length = 0;
    },
  };
}

export type Bytes = ReturnType<typeof createBytes>;

/** Reads what {@link createBytes} wrote. Throws if the bytes end too early or a number is too large. */
export function readBytes(bytes: Uint8Array) {
  /** Only texts need it, and few details have any. */
  let buffer: Buffer | undefined;
  let at = 0;

  /** Returns the start of the passed bytes. */
  function pass(count: number): number {
    const start = at;
    at += count;
    if (at > bytes.length) throw new RangeError(`${bytes.length} bytes end too early`);
    return start;
  }

  return {
    hasMore: () => at < bytes.length,
    number(): number {
      let value = 0;
      for (let unit = 1; ; unit *= 0x80) {
        const byte = bytes[pass(1)] ?? 0;
        value += (byte & 0x7f) * unit;
        if (value > Number.MAX_SAFE_INTEGER) throw new RangeError("A number is too large");
        if (byte < 0x80) return value;
      }
    },
    byte: (): number => bytes[pass(1)] ?? 0,
    word(): number {
      const start = pass(4);
      const high = (bytes[start + 3] ?? 0) << 24;
      return (
        (high | ((bytes[start + 2] ?? 0) << 16) | ((bytes[start + 1] ?? 0) << 8) | (bytes[start] ?? 0)) >>> 0
      );
    },
    text(length: number): string {
      buffer ??= Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      return buffer.toString("utf8", pass(length), at);
    },
    /** No copy. */
    part: (length: number): Uint8Array => bytes.subarray(pass(length), at),
  };
}

export type BytesReader = ReturnType<typeof readBytes>;
