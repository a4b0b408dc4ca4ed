/** What OWASP's cheat sheet on storing passwords recommends: 19 MiB, twice. */
const COST = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const;

/** What is kept of a password. Takes about 20 ms on another thread, as long as a thousand redirects. */
export async function hashPassword(password: string): Promise<string> {
  return Bun.password.hash(password.normalize("NFC"), COST);
}

/** Takes as long as making the hash. */
export async function isPassword(given: string, hash: string): Promise<boolean> {
  return Bun.password.verify(given.normalize("NFC"), hash);
}
