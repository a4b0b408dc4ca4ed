/** The last word of HalfSipHash is the length of the message. */
const LENGTH = 12 << 24;

/**
 * HalfSipHash-2-4 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012; the form for 32-bit words, 2016)
 * of three words under a key of two. All are 32 bits wide, signed or not; the result is a uint32. An HMAC would take
 * forty times as long.
 */
export function halfSipHash(key0: number, key1: number, one: number, two: number, three: number): number {
  let a = key0 | 0;
  let b = key1 | 0;
  let c = 0x6c79_6765 ^ key0;
  let d = 0x7465_6462 ^ key1;
  // Four words, then two final turns without a word. Each turn is two rounds.
  for (let turn = 0; turn < 6; turn++) {
    const word = turn === 0 ? one : turn === 1 ? two : turn === 2 ? three : turn === 3 ? LENGTH : 0;
    if (turn === 4) c ^= 0xff;
    d ^= word;
    for (let round = 0; round < 2; round++) {
      a = (a + b) | 0;
      b = ((b << 5) | (b >>> 27)) ^ a;
      a = (a << 16) | (a >>> 16);
      c = (c + d) | 0;
      d = ((d << 8) | (d >>> 24)) ^ c;
      a = (a + d) | 0;
      d = ((d << 7) | (d >>> 25)) ^ a;
      c = (c + b) | 0;
      b = ((b << 13) | (b >>> 19)) ^ c;
      c = (c << 16) | (c >>> 16);
    }
    a ^= word;
  }
  return (b ^ d) >>> 0;
}
