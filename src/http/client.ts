import { createClientAddress, isTrusted, type Network } from "../guard/client-address.ts";
import { memoize } from "../memoize.ts";
import { readCountry } from "../visits/country.ts";
import type { Client } from "../visits/recorder.ts";

export interface ClientOptions {
  readonly trustedProxies: readonly Network[];
  /** In which a trusted proxy says the visitor's country. */
  readonly countryHeader: string | null;
  readonly countryOf: (address: string) => string;
}

/** Reads who asks: the address a trusted proxy tells, or else the peer's, and where that is. */
export function createClientReader({ trustedProxies, countryHeader, countryOf }: ClientOptions) {
  const clientAddress = createClientAddress(trustedProxies);
  const direct = memoize((peer): Client => {
    const address = clientAddress(peer, null);
    return { address, country: countryOf(address) };
  });
  const trusts = memoize((peer) => isTrusted(trustedProxies, peer));
  const country = memoize(countryOf);
  const told = memoize(readCountry);

  return (peer: string, headers: Headers): Client => {
    if (trustedProxies.length === 0 || !trusts(peer)) return direct(peer);
    const address = clientAddress(peer, headers.get("x-forwarded-for"));
    const header = countryHeader === null ? null : headers.get(countryHeader);
    return { address, country: header === null ? country(address) : told(header) };
  };
}
