import { createQueue } from "./queue.ts";
import { StoreUnavailable } from "./store.ts";

/** What OWASP's cheat sheet on storing passwords recommends: 19 MiB, twice. */
const COST = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const;

/** As Bun writes it: two times 32 bytes in Base64. */
const HASH = /^\$argon2id\$v=19\$m=([1-9]\d{0,4}),t=([1-9]),p=1(?:\$[A-Za-z\d+/]{42}[AEIMQUYcgkosw048]){2}$/;

/** Whether a hash from elsewhere is as cheap to check as our own. One with more memory or rounds would hold up all others. */
export function isOwnHash(hash: string): boolean {
  const [, memoryCost, timeCost] = HASH.exec(hash) ?? [];
  return Number(memoryCost) <= COST.memoryCost && Number(timeCost) <= COST.timeCost;
}

// Each hash takes 19 MiB and a core. Whoever makes links with passwords does not keep visitors from entering theirs.
const hashing = createQueue({ atOnce: 1, waiting: 64 });
/** The last one waits for about a second. With a share of 4, filling it takes 17 clients and 17 links. */
const checking = createQueue({ atOnce: 2, waiting: 64, share: 4 });

/** What is kept of a password. Takes about 20 ms on another thread, as long as a thousand redirects. */
export async function hashPassword(password: string): Promise<string> {
  const hash = await hashing(() => Bun.password.hash(password.normalize("NFC"), COST));
  if (hash === undefined) throw new StoreUnavailable("too many passwords wait to be hashed");
  return hash;
}

/**
 * Whether a password is the one of a hash, which takes as long as hashing it. Undefined if too many checks wait already, in
 * all or for one of the `sharers`.
 */
export function checkPassword(
  given: string,
  hash: string,
  sharers: readonly string[],
): Promise<boolean | undefined> {
  return checking(() => Bun.password.verify(given.normalize("NFC"), hash), sharers);
}

/** Far more than the longest password has, in UTF-16 units and however a keyboard spells it. */
const MAX_COUNTED = 1024;

/** In code points of the normal form. More than a password may have where it has many more. */
export function passwordLength(password: string): number {
  return Array.from(password.slice(0, MAX_COUNTED).normalize("NFC")).length;
}
