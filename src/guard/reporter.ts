import type { LinkId } from "../links/store.ts";
import { clientNetwork } from "./client-address.ts";
import { createDaySalt, type DaySaltOptions, saltedHash } from "./day-salt.ts";

/** In hexadecimal digits: 64 bits. */
const REPORTER_LENGTH = 16;

/**
 * Clients as numbers: keyed hashes of address and link under the salt of the day. So a client is known again on the same
 * day and the same link, and nowhere else.
 */
export function createReporters(options: DaySaltOptions) {
  const saltNow = createDaySalt(options);

  return {
    async identify({ code, createdMs }: LinkId, address: string) {
      const { day, salt } = await saltNow();
      const text = ["reporter", clientNetwork(address), createdMs, code].join("\t");
      return { day, reporter: saltedHash(salt, text, REPORTER_LENGTH) };
    },
  };
}
