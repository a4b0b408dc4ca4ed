/** Fills an array from a CSPRNG, and returns it. */
export function fillRandom<T extends Uint8Array | Uint32Array | Int32Array | BigUint64Array>(array: T): T {
  return crypto.getRandomValues(array as never);
}
