import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Addresses that share their first bits. IPv4-mapped IPv6 is written as IPv4. */
export interface Network {
  readonly address: Address;
  /** In bits. */
  readonly prefix: number;
}

/** What a request says about where it came from: its peer, and its `X-Forwarded-For` header. */
export type ClientAddress = (peer: string, forwarded: string | null) => string;

/** In entries, from the right. Real chains have a handful; an attacker's header fits thousands. */
const MAX_ENTRIES = 32;
/** An IPv6 address with a zone, brackets and a port is shorter. */
const MAX_ADDRESS_LENGTH = 80;

/** Reads `10.0.0.0/8`, `2001:db8::/32` or a single address. */
export function parseNetwork(text: string): Network | undefined {
  const [, written = "", bits] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const plain = parsePlain(written);
  if (plain === undefined) return undefined;
  const size = plain.kind() === "ipv4" ? 32 : 128;
  const prefix = bits === undefined ? size : Number(bits);
  if (prefix > size) return undefined;
  const address = unmapped(plain);
  if (address === plain) return { address, prefix };
  return prefix < 96 ? { address: plain, prefix } : { address, prefix: prefix - 96 };
}

/** Whether an address is in one of the networks; false for what is no address. */
export function isTrusted(trusted: readonly Network[], text: string): boolean {
  const address = parseAddress(text);
  return address !== undefined && contains(trusted, address);
}

/**
 * Answers the client's address in its shortest form (RFC 5952; IPv4-mapped IPv6 as IPv4, without zone), "" where
 * the peer has none. `X-Forwarded-For` is believed only as far as trusted proxies wrote it: each appends the
 * address it was called from, so it is read from the right up to the first address that is not a proxy's.
 */
export function createClientAddress(trusted: readonly Network[]): ClientAddress {
  return (peer, forwarded) => {
    let client = parseAddress(peer);
    if (client === undefined) return "";
    const header = forwarded ?? "";
    let end = header.length;
    for (let read = 0; read < MAX_ENTRIES && end > 0 && contains(trusted, client); read++) {
      const comma = header.lastIndexOf(",", end - 1);
      const entry = header.slice(comma + 1, end);
      end = comma;
      const before = parseEntry(entry);
      // Whoever wrote something else here may have written what stands left of it, too.
      if (before === undefined) break;
      client = before;
    }
    return canonical(client);
  };
}

function contains(networks: readonly Network[], address: Address): boolean {
  return networks.some(
    (network) => network.address.kind() === address.kind() && address.match(network.address, network.prefix),
  );
}

/** An address as proxies write it: with a port or brackets or both, or bare. */
function parseEntry(entry: string): Address | undefined {
  if (entry.length > MAX_ADDRESS_LENGTH) return undefined;
  const [, bracketed, v4, bare = ""] =
    /^[ \t]*(?:\[([^\]]*)\](?::\d{1,5})?|(\d[\d.]*):\d{1,5}|(.*?))[ \t]*$/.exec(entry) ?? [];
  return parseAddress(bracketed ?? v4 ?? bare);
}

function parseAddress(text: string): Address | undefined {
  const address = parsePlain(text);
  return address && unmapped(address);
}

function parsePlain(text: string): Address | undefined {
  if (text.length > MAX_ADDRESS_LENGTH) return undefined;
  // The library takes octal, hexadecimal and shortened IPv4, which proxies do not write.
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  // It also takes the deprecated ::192.0.2.1 for ::ffff:192.0.2.1, which is another address.
  if (!text.includes(":") || /^::\d+\./.test(text) || !ipaddr.IPv6.isValid(text)) return undefined;
  // A zone names an interface of the machine that wrote it; it is no part of the address.
  return ipaddr.IPv6.parse(text.replace(/%.*$/, ""));
}

function unmapped(address: Address): Address {
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

function canonical(address: Address): string {
  return address instanceof ipaddr.IPv6 ? address.toRFC5952String() : address.toString();
}
