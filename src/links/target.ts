import ipaddr from "ipaddr.js";

import { codePointName, type Invalid, invalid } from "./problem.ts";

/** An http(s) URL as the WHATWG parser serializes it, which is always ASCII. */
export type Target = string & { readonly __brand: "Target" };

/** In characters, of the URL as written and as serialized. */
export const MAX_TARGET_LENGTH = 8192;
/** In characters, of a target with the query or the path of a visit. */
export const MAX_DESTINATION_LENGTH = 16_384;

/** With `public`, anyone may create links, so targets in private networks are refused. */
export type Posture = "public" | "private";

/**
 * In UTF-16 units, without %XX. Real names have at most 253 (RFC 1035), and a port has six more. Normalizing a long one takes
 * quadratic time.
 */
const MAX_HOST_LENGTH = 259;

export interface TargetPolicy {
  readonly posture: Posture;
  readonly onlyExamples?: boolean;
  /** Host names of this service, as in `URL.hostname`. */
  readonly ownHosts: readonly string[];
  /** Ports of this service. Only used for loopback hosts, whose other ports belong to other programs. */
  readonly ownPorts: readonly string[];
  /** Whether a host, as in `URL.hostname`, is a public shortener, so that links to it hide their destination. */
  readonly isShortener: (host: string) => boolean;
}

const TOO_LONG = { rule: "target.too-long", max: MAX_TARGET_LENGTH } as const;
const SENDABLE = /^https?:[\x21-\x7E]+$/;
const CONTROL = /[\p{Cc}]/u;
const SCHEME = /^https?:\/\//i;
const EDGE_SPACE = /^\s|\s$/u;
/**
 * RFC 6761, RFC 6762, RFC 8375 and ICANN's reservation of .internal. The rest are names of private networks (RFC 6762,
 * appendix G) and of services in Kubernetes.
 */
const PRIVATE_NAME = /\.(?:localhost|local|internal|home\.arpa|lan|home|corp|intranet|private|svc)$/;
/** RFC 2606, sections 2 and 3. */
const EXAMPLE_NAME = /(?:^|\.)example(?:\.(?:com|net|org))?$/;
/** DNS has no empty labels, but `URL` accepts them. `evil.example..` must not bypass rules about hosts. */
const EMPTY_LABEL = /^\.|\.\./;
/** Azure's metadata service. Its address looks public, so it must be listed. */
const METADATA_ADDRESS = "168.63.129.16";

/** Whether a stored target can be sent. Others come from a store that another program has changed. */
export function isSendable(target: string): boolean {
  return SENDABLE.test(target);
}

/** Parses and checks a destination, without DNS and without fetching it. */
export function parseTarget(written: string, policy: TargetPolicy): Target | Invalid {
  if (written.length > MAX_TARGET_LENGTH) return invalid(TOO_LONG);
  if (!written.isWellFormed()) return invalid({ rule: "target.ill-formed" });
  const control = CONTROL.exec(written)?.[0];
  if (control !== undefined) return invalid({ rule: "target.control", character: codePointName(control) });
  if (EDGE_SPACE.test(written)) return invalid({ rule: "target.space" });
  if (!SCHEME.test(written)) return invalid({ rule: "target.scheme" });
  if (written.includes("\\")) return invalid({ rule: "target.backslash" });
  if (hostOf(written).length > MAX_HOST_LENGTH) return invalid({ rule: "target.unparsable" });
  const url = URL.parse(written);
  if (url === null) return invalid({ rule: "target.unparsable" });
  // Each reading would create a string.
  const { href, hostname } = url;
  if (!isAscii(href) || EMPTY_LABEL.test(hostname)) return invalid({ rule: "target.unparsable" });
  if (url.username !== "" || url.password !== "") return invalid({ rule: "target.credentials" });
  if (href.length > MAX_TARGET_LENGTH) return invalid(TOO_LONG);
  if (hostname.includes("{path}")) return invalid({ rule: "target.path-in-host" });
  if (isOwn(url, policy, hostname)) return invalid({ rule: "target.own" });
  if (policy.onlyExamples === true && !EXAMPLE_NAME.test(withoutTrailingDots(hostname)))
    return invalid({ rule: "target.blocked", host: canonicalHost(hostname) });
  if (policy.posture === "private") return href as Target;
  if (isPrivateHost(hostname)) return invalid({ rule: "target.private" });
  if (policy.isShortener(hostname)) return invalid({ rule: "target.chain", host: canonicalHost(hostname) });
  return href as Target;
}

/** Whether a host (as in `URL.hostname`) is only reachable inside a private network. */
export function isPrivateHost(hostname: string): boolean {
  const address = parseAddress(hostname);
  if (address !== undefined) {
    return address.range() !== "unicast" || isUnallocated(address) || hostname === METADATA_ADDRESS;
  }
  const name = withoutTrailingDots(hostname);
  return !name.includes(".") || PRIVATE_NAME.test(name);
}

/** The host of a target and its port ("" if default), as parsed at creation: a newer parser may differ. */
export function authorityOf(target: string): { readonly host: string; readonly port: string } {
  const [, host = "", port = ""] = /^https?:\/\/([^/?#]*?)(?::(\d*))?(?:[/?#]|$)/.exec(target) ?? [];
  return { host, port };
}

/** The host of a target. Equal hosts compare equal, see {@link canonicalHost}. */
export function targetHost(target: Target): string {
  return canonicalHost(/^https?:\/\/(\[[^\]]*\]|[^/:?#]*)/.exec(target)?.[1] ?? "");
}

/** Whether a target is this service, so that the link would be a loop. */
export function isOwnTarget(target: string, policy: TargetPolicy): boolean {
  const url = URL.parse(target);
  return url !== null && isOwn(url, policy);
}

/** Returns everything between // and the path, credentials and port included, with an x for each %XX character. */
function hostOf(written: string): string {
  const host = /^[^/]*\/+([^/?#]*)/.exec(written)?.[1] ?? "";
  if (!host.includes("%")) return host;
  // Each escaped character has one byte that doesn't continue another.
  return host.replaceAll(/%[89AB][\dA-F]/gi, "").replaceAll(/%[\dA-F]{2}/gi, "x");
}

function isOwn(url: URL, policy: TargetPolicy, hostname = url.hostname): boolean {
  const host = canonicalHost(hostname);
  return policy.ownHosts.some((own) => {
    if (!isLoopback(own)) return host === canonicalHost(own);
    return isLoopback(host) && policy.ownPorts.includes(effectivePort(url));
  });
}

/** Makes equal hosts compare equal: without trailing dots, IPv4-mapped IPv6 addresses as IPv4. */
export function canonicalHost(hostname: string): string {
  const address = parseAddress(hostname);
  const isMapped = address !== undefined && unmapped(address) !== address;
  return isMapped ? unmapped(address).toString() : withoutTrailingDots(hostname);
}

/** The prefix of an origin's codes in the store, unless it is BASE_URL. */
export function keyPrefixOf(origin: string): string {
  return `${canonicalHost(new URL(origin).hostname)}/`;
}

/** The port of a URL, also if it is the default of its scheme. */
export function effectivePort(url: URL): string {
  if (url.port !== "") return url.port;
  return url.protocol === "https:" ? "443" : "80";
}

export function isLoopback(host: string): boolean {
  const address = parseAddress(host);
  // Connections to 0.0.0.0 or :: also reach this machine.
  if (address !== undefined) return ["loopback", "unspecified"].includes(unmapped(address).range());
  const name = withoutTrailingDots(host);
  return name === "localhost" || name.endsWith(".localhost");
}

function parseAddress(host: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  // Only hosts that have a colon or end in a digit or a bracket can be addresses.
  if (!/[\d\]]$|:/.test(host)) return undefined;
  const bare = host.startsWith("[") ? host.slice(1, -1) : host;
  // The WHATWG parser has already turned octal, hexadecimal, short and circled spellings into this form.
  return ipaddr.IPv4.isValidFourPartDecimal(bare) || ipaddr.IPv6.isValid(bare)
    ? ipaddr.parse(bare)
    : undefined;
}

function unmapped(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

/** IANA assigns addresses below 2000::/3 only (RFC 4291, section 2.4), and reserves all of that from 2d00:: on. */
function isUnallocated(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address instanceof ipaddr.IPv4) return false;
  const [first = 0] = address.parts;
  return first < 0x2000 || first >= 0x2d00;
}

/** Old links may have several. */
function withoutTrailingDots(host: string): string {
  let { length } = host;
  while (host[length - 1] === ".") length--;
  return host.slice(0, length);
}

function isAscii(text: string): boolean {
  return /^[\x21-\x7E]*$/.test(text);
}
