import { aimedMs, hasBegun, leadsFromMs, type Link } from "../links/link.ts";
import { authorityOf } from "../links/target.ts";
import { DAY_MS, HOUR_MS } from "../links/time.ts";
import { isAddress, isPublicSuffix, registrableDomain } from "./domain-name.ts";
import { isShortener } from "./shorteners.ts";

/**
 * What readers should know of a link before they follow it. Each is a fact that deceivers often need and others seldom
 * do; none of them is a verdict. `domain` is the registrable domain, whose owner decides what the host shows.
 */
export type Hint =
  /** An IP address instead of a name. */
  | { readonly hint: "address" }
  | { readonly hint: "port"; readonly port: string }
  /** A part of the host looks like a well-known name, but is another. */
  | { readonly hint: "imitation"; readonly name: string }
  /** The host begins with the name of another site. */
  | { readonly hint: "front"; readonly name: string; readonly domain: string }
  | { readonly hint: "labels"; readonly domain: string }
  /** A public URL shortener: where it leads cannot be told. */
  | { readonly hint: "shortener" }
  | { readonly hint: Passing; readonly hours: number };

/** Less than a day ago, the link was made, it began, or its target was changed. */
type Passing = "young" | "begun" | "changed";

/** Whether a hint is soon out of date. The others are about the destination. */
export function isPassing({ hint }: Hint): boolean {
  return hint === "young" || hint === "begun" || hint === "changed";
}

/** Labels before the registrable domain. Well-known hosts have up to three, those of large networks four. */
const MANY_LABELS = 5;

/**
 * Names that are often put in front of somebody else's domain. Those that companies also use at their suppliers, as
 * apple.stackexchange.com and microsoft.sharepoint.com do, are left out: there, a hint would be a false alarm.
 */
const BORROWED = [
  "binance",
  "coinbase",
  "facebook",
  "icloud",
  "metamask",
  "netflix",
  "office365",
  "paypal",
  "whatsapp",
];
/** Names that are often imitated. A different spelling is rarely an accident, so this list can be longer. */
const IMITATED = [
  ...BORROWED,
  "amazon",
  "apple",
  "google",
  "instagram",
  "kakao",
  "microsoft",
  "naver",
  "samsung",
];
const IMITATED_BY_LOOKS = new Map(IMITATED.map((name) => [looks(name), name]));

/**
 * The endings by which people recognise the name of a site. Other top-level domains, such as .kr, .app or .shop, are
 * ordinary labels too: us.shop.samsung.com.
 */
const KNOWN_ENDINGS = new Set(["com", "net", "org", "gov"]);

/** Only looks at the link itself: nothing is fetched or looked up. */
export function hintsOf(link: Pick<Link, "target" | "createdMs" | "terms">, nowMs: number): Hint[] {
  const { host, port } = authorityOf(link.target);
  const sinceMs = hasBegun(link, nowMs) ? leadsFromMs(link) : aimedMs(link);
  const ageMs = nowMs - sinceMs;
  const hours = Math.max(0, Math.floor(ageMs / HOUR_MS));
  return [
    ...(isAddress(host) ? [{ hint: "address" } as const] : hintsOfName(host.replace(/\.$/, ""))),
    ...(isShortener(host) ? [{ hint: "shortener" } as const] : []),
    ...(port === "" ? [] : [{ hint: "port", port } as const]),
    ...(ageMs < DAY_MS ? [{ hint: passing(link, sinceMs), hours } as const] : []),
  ];
}

function passing(link: Pick<Link, "createdMs" | "terms">, sinceMs: number): Passing {
  if (sinceMs > aimedMs(link)) return "begun";
  return sinceMs === link.createdMs ? "young" : "changed";
}

function hintsOfName(host: string): Hint[] {
  const domain = registrableDomain(host);
  const labels = host.split(".");
  const front = labels.slice(0, labels.length - domain.split(".").length);
  const imitated = labels
    .flatMap(wordsOf)
    .map((word) => ({ word, name: IMITATED_BY_LOOKS.get(looks(word)) }))
    .find(({ word, name }) => name !== undefined && name !== word)?.name;
  const name = siteIn(front) ?? front.flatMap(wordsOf).find((word) => BORROWED.includes(word));
  return [
    ...(imitated === undefined ? [] : [{ hint: "imitation", name: imitated } as const]),
    ...(name === undefined ? [] : [{ hint: "front", name, domain } as const]),
    ...(front.length < MANY_LABELS ? [] : [{ hint: "labels", domain } as const]),
  ];
}

/** What would be a site of its own, such as `paypal.com` in `www.paypal.com.example.net`. */
function siteIn(front: readonly string[]): string | undefined {
  for (const [nth, label] of front.entries()) {
    const [end = "", last] = front.slice(nth + 1);
    if (label === "www") continue;
    if (last !== undefined && isPublicSuffix(`${end}.${last}`)) return `${label}.${end}.${last}`;
    if (KNOWN_ENDINGS.has(end)) return `${label}.${end}`;
  }
  return undefined;
}

function wordsOf(label: string): string[] {
  return label.split("-");
}

/** Two words with the same result are easily taken for one another. */
function looks(word: string): string {
  return word.replaceAll("rn", "m").replaceAll("vv", "w").replaceAll("0", "o").replaceAll("1", "l");
}
