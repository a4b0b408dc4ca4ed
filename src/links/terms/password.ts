import { createQueue } from "../../lib/queue.ts";
import { StoreUnavailable } from "../link-store.ts";

/** 19 MiB, two rounds, as OWASP's cheat sheet on storing passwords recommends. */
export const COST = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const;

/** The format of Bun: a salt and a hash of 32 bytes each in Base64. */
const HASH = /^\$argon2id\$v=19\$m=([1-9]\d{0,4}),t=([1-9]),p=1(?:\$[A-Za-z\d+/]{42}[AEIMQUYcgkosw048]){2}$/;

/** Whether an imported hash is as cheap to check as our own. A more expensive one would delay all others. */
export function isOwnHash(hash: string): boolean {
  const [, memoryCost, timeCost] = HASH.exec(hash) ?? [];
  return Number(memoryCost) <= COST.memoryCost && Number(timeCost) <= COST.timeCost;
}

// Each hash takes 19 MiB and a core. Two queues, so that creates with passwords don't delay visitors who enter theirs.
const hashing = createQueue({ atOnce: 1, waiting: 64 });
/** Passwords of one client, or of one link, that are checked at the same time. */
export const CHECKS_AT_ONCE = 4;
/** The last one waits for about a second. With a share of 4, filling it takes 17 clients and 17 links. */
const checking = createQueue({ atOnce: 2, waiting: 64, share: CHECKS_AT_ONCE });

/** Takes about 20 ms on another thread, as long as a thousand redirects. */
export async function hashPassword(password: string, sharers?: readonly string[]): Promise<string> {
  const hash = await hashing(() => Bun.password.hash(password.normalize("NFC"), COST), sharers);
  if (hash === undefined) throw new StoreUnavailable("too many passwords wait to be hashed");
  return hash;
}

/** Checks a password, which takes as long as hashing it. Undefined if too many checks wait, in all or of one sharer. */
export function checkPassword(
  given: string,
  hash: string,
  sharers: readonly string[],
): Promise<boolean | undefined> {
  return checking(() => Bun.password.verify(given.normalize("NFC"), hash), sharers);
}
