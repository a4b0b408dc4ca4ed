import { type Target, targetHost } from "../links/target.ts";
import { isAddress, registeredDomain } from "./domain-name.ts";

/** No registry's suffix has as many labels. */
const MAX_LABELS = 6;

/**
 * Stands for all hosts of a registered domain in an engine's index of sites. Several domains may have the same number.
 */
export function siteOf(target: Target): number {
  const host = targetHost(target);
  return numberOf(registeredDomain(host) ?? host);
}

/**
 * The sites that a host and those below it belong to; undefined if there may be any number of them, as below `co.uk`. The
 * list of suffixes may have been a different one when a link was indexed, so its site may be any domain above the host.
 */
export function sitesOf(host: string): readonly number[] | undefined {
  if (isAddress(host)) return [numberOf(host)];
  if (registeredDomain(host) === undefined) return undefined;
  const labels = host.split(".").slice(-MAX_LABELS);
  return labels.slice(1).map((_, nth) => numberOf(labels.slice(nth).join(".")));
}

/** A hash of 32 bits. It is signed, because SQLite stores small numbers of either sign in fewer bytes. */
function numberOf(domain: string): number {
  return Bun.hash.crc32(domain) | 0;
}
