import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** A range of addresses, such as 10.0.0.0/8. IPv6 addresses that stand for an IPv4 address are stored as that. */
export interface Network {
  readonly address: Address;
  /** In bits. */
  readonly prefix: number;
}

/** Returns the client's address, given the address of the peer and the request's `X-Forwarded-For` header. */
export type ClientAddress = (peer: string, forwarded: string | null) => string;

/** How many entries of `X-Forwarded-For` are read. Real chains have a handful, but an attacker could send thousands. */
const MAX_ENTRIES = 32;
/** In characters. Enough for an IPv6 address with a zone, brackets and a port. */
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

/** Whether an address is in one of the networks. False if the text is not an address. */
export function isTrusted(trusted: readonly Network[], text: string): boolean {
  const address = parseAddress(text);
  return address !== undefined && contains(trusted, address);
}

/**
 * Returns the client's address in its shortest form (RFC 5952), or "" if the peer has none. An IPv6 address that stands for
 * an IPv4 address becomes that one, and zones are dropped. Each proxy appends the address that called it to
 * `X-Forwarded-For`. So the header is read from the right, up to the first address that is not a trusted proxy: anything
 * before that could be forged.
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
      // Not an address, so the entries to its left cannot be trusted either.
      if (before === undefined) break;
      client = before;
    }
    return canonical(client);
  };
}

/**
 * The key of a client: an IPv4 address, or a /64 of IPv6, the smallest network of a customer. Takes a result of
 * {@link createClientAddress}; "" stays "". Both loopback addresses are one client. Each IPv4 client behind a local
 * translator keeps its whole IPv6 address, because the IPv4 address may be anywhere in it (RFC 8215).
 */
export function clientNetwork(address: string): string {
  if (address === "::1") return "127.0.0.1";
  if (!address.includes(":") || address.startsWith(TRANSLATED)) return address;
  return ipaddr.IPv6.parse(address)
    .parts.slice(0, 4)
    .map((part) => part.toString(16))
    .join(":");
}

/**
 * Returns the /48 of a network from {@link clientNetwork}: one client may have all its 65,536 networks. Undefined for IPv4,
 * translated or not.
 */
export function clientSite(network: string): string | undefined {
  if (!network.includes(":") || network.startsWith(TRANSLATED)) return undefined;
  return network.slice(0, network.lastIndexOf(":"));
}

/** The keys that count where clients share something: the client's network and its /48. */
export function clientSharers(network: string): readonly string[] {
  const site = clientSite(network);
  return site === undefined ? [network] : [network, site];
}

function contains(networks: readonly Network[], address: Address): boolean {
  return networks.some(
    (network) => network.address.kind() === address.kind() && address.match(network.address, network.prefix),
  );
}

/** Proxies may add brackets, a port or both to the address. */
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
  // The library also accepts octal, hexadecimal and shortened IPv4 addresses, which no proxy writes.
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  // The library confuses the deprecated ::192.0.2.1 with ::ffff:192.0.2.1, which is a different address.
  if (!text.includes(":") || /^::\d+\./.test(text) || !ipaddr.IPv6.isValid(text)) return undefined;
  // A zone (%eth0) names a network interface of the machine that wrote it. It is not part of the address.
  return ipaddr.IPv6.parse(text.replace(/%.*$/, ""));
}

/** The start of addresses that translators give to IPv4 clients: 64:ff9b::/96 and 64:ff9b:1::/48. */
const TRANSLATED = "64:ff9b:";
const WELL_KNOWN = ipaddr.IPv6.parse("64:ff9b::");

/**
 * Returns the IPv4 address that an IPv6 one stands for, mapped or under the well-known prefix of translators. That prefix
 * has only global addresses (RFC 6052, section 3.1), so no client can pass for a proxy in a private network.
 */
function unmapped(address: Address): Address {
  if (!(address instanceof ipaddr.IPv6)) return address;
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  if (!address.match(WELL_KNOWN, 96)) return address;
  const embedded = new ipaddr.IPv4(address.toByteArray().slice(12));
  return embedded.range() === "unicast" ? embedded : address;
}

function canonical(address: Address): string {
  return address instanceof ipaddr.IPv6 ? address.toRFC5952String() : address.toString();
}
