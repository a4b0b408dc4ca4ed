import { hasStarted, redirectsSinceMs, type Link } from "../links/link.ts";
import { authorityOf } from "../links/target.ts";
import { DAY_MS, HOUR_MS } from "../links/time.ts";
import { isAddress, isPublicSuffix, registrableDomain, isShortener } from "./blocklist/domain-name.ts";

/**
 * A fact about a link that readers should know before they follow it. Phishing often needs these and other links rarely
 * do, but none is a verdict. `domain` is the registrable domain, whose owner controls the host.
 */
export type Hint =
  /** An IP address instead of a name. */
  | { readonly hint: "address" }
  | { readonly hint: "port"; readonly port: string }
  /** The host starts with the name of another site. */
  | { readonly hint: "front"; readonly name: string; readonly domain: string }
  | { readonly hint: "labels"; readonly domain: string }
  /** A public URL shortener, so the destination is unknown. */
  | { readonly hint: "shortener" }
  /** The target changed less than a day ago. */
  | { readonly hint: "changed"; readonly hours: number };

/** Labels before the registrable domain. Well-known hosts have up to three, those of large networks four. */
const MANY_LABELS = 5;

/**
 * The endings by which people recognize the name of a site. Other top-level domains, such as .kr, .app or .shop, also
 * occur as ordinary labels: us.shop.samsung.com.
 */
const KNOWN_ENDINGS = new Set(["com", "net", "org", "gov"]);
/** Domains of governments, with names of their own below them. */
const OWN_DOMAINS = new Set(["gov.wales", "gov.cymru"]);

/** Only reads the link itself: nothing is fetched or looked up. */
export function hintsOf(link: Pick<Link, "target" | "createdMs" | "terms">, nowMs: number): Hint[] {
  const { host, port } = authorityOf(link.target);
  return [
    ...(isAddress(host) ? [{ hint: "address" } as const] : hintsOfName(host.replace(/\.$/, ""))),
    ...(isShortener(host) ? [{ hint: "shortener" } as const] : []),
    ...(port === "" ? [] : [{ hint: "port", port } as const]),
    ...changeOf(link, nowMs),
  ];
}

function changeOf(link: Pick<Link, "createdMs" | "terms">, nowMs: number): Hint[] {
  const changedMs = link.terms?.changedMs;
  if (changedMs === undefined || nowMs - changedMs >= DAY_MS) return [];
  // The link started after the change, so nobody knows the earlier target.
  if (hasStarted(link, nowMs) && redirectsSinceMs(link) > changedMs) return [];
  return [{ hint: "changed", hours: Math.max(0, Math.floor((nowMs - changedMs) / HOUR_MS)) }];
}

function hintsOfName(host: string): Hint[] {
  const domain = registrableDomain(host);
  const labels = host.split(".");
  const front = labels.slice(0, labels.length - domain.split(".").length);
  const name = siteIn(labels, front.length);
  return [
    ...(name === undefined ? [] : [{ hint: "front", name, domain } as const]),
    ...(front.length < MANY_LABELS ? [] : [{ hint: "labels", domain } as const]),
  ];
}

/**
 * The name of another site that starts in the first labels, such as `paypal.com` in `www.paypal.com.example.net`. It may end
 * in the registrable domain, as in `paypal.com.xyz`.
 */
function siteIn(labels: readonly string[], front: number): string | undefined {
  for (const [nth, label] of labels.slice(0, front).entries()) {
    // The last label is left out: it is the top-level domain of the link's host, not of another name.
    const [end = "", last] = labels.slice(nth + 1, -1);
    if (label === "www") continue;
    if (last !== undefined && isPublicSuffix(`${end}.${last}`)) return `${label}.${end}.${last}`;
    if (KNOWN_ENDINGS.has(end) && !OWN_DOMAINS.has(labels.slice(nth + 1).join("."))) return `${label}.${end}`;
  }
  return undefined;
}
