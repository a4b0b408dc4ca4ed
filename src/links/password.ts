/** What OWASP's cheat sheet on storing passwords recommends: 19 MiB, twice. */
const COST = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const;

/** What is kept of a password. Takes about 20 ms on another thread, as long as a thousand redirects. */
export async function hashPassword(password: string): Promise<string> {
  return Bun.password.hash(password.normalize("NFC"), COST);
}

/** Each takes 19 MiB and a core. */
const MAX_CHECKED = 2;
/** The last one waits for about a second. */
const MAX_WAITING = 64;

/** Whether a password is the one of a hash, which takes as long as making it. Undefined if too many wait already. */
export type PasswordCheck = (given: string, hash: string) => Promise<boolean | undefined>;

export function createPasswordCheck(): PasswordCheck {
  const waiting: (() => void)[] = [];
  let checked = 0;

  return async (given, hash) => {
    if (checked < MAX_CHECKED) checked++;
    else if (waiting.length >= MAX_WAITING) return undefined;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await Bun.password.verify(given.normalize("NFC"), hash);
    } finally {
      // The place is left to the next one, so that nobody else takes it first.
      const next = waiting.shift();
      if (next === undefined) checked--;
      else next();
    }
  };
}
