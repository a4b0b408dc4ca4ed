import { type FoundLink, hasPassword, type Link, stateOf } from "../../links/link.ts";
import type { Secret } from "../../links/secret.ts";
import { NEVER_MS } from "../../links/time.ts";
import type { Domain } from "../domain.ts";
import type { LinkData, ManagedLinkData } from "./link-schemas.ts";

export interface Shown {
  readonly nowMs: number;
  readonly visits: number;
  /** Whether to show the destination of a link with a password, and how many of its limited visits there have been. */
  readonly isMaker: boolean;
}

/** All that is told of a link. */
export function linkData(
  link: Link | FoundLink,
  domain: Domain,
  { nowMs, visits, isMaker }: Shown,
): LinkData {
  const { code, createdMs, endsMs, terms, disabled } = link;
  const short_url = domain.shortUrl(code);
  const path = encodeURIComponent(code);
  const target = isMaker || !hasPassword(link) ? link.originalUrl : null;
  return {
    code,
    short_url,
    ascii_url: new URL(short_url).href,
    original_url: target,
    target,
    created: instant(createdMs),
    starts: instantOrNull(terms?.startsMs),
    expires: endsMs === NEVER_MS ? null : instant(endsMs),
    expiration_date: instant(endsMs),
    max_visits: terms?.maxVisits ?? null,
    visits_used: isMaker && terms?.maxVisits !== undefined ? (terms.visits ?? 0) : null,
    has_password: hasPassword(link),
    state: stateOf(link, nowMs),
    disabled: disabled === undefined || disabled === "deleted" ? null : disabled,
    changed: instantOrNull(terms?.changedMs),
    visits,
    qr: { svg: `${domain.origin}/${path}.svg`, png: `${domain.origin}/${path}.png` },
  };
}

/** The same for who may manage the link. */
export function managedLinkData(
  link: Link,
  domain: Domain,
  secret: Pick<Secret, "manageKey">,
  shown: Omit<Shown, "isMaker">,
): ManagedLinkData {
  return { ...linkData(link, domain, { ...shown, isMaker: true }), manage_key: secret.manageKey(link) };
}

/**
 * Where the link is managed (RFC 8288; `edit` is of RFC 5023). The key is in the fragment, which browsers send to no
 * server and in no referrer.
 */
export function editLink(
  link: Pick<Link, "code" | "createdMs">,
  { origin }: Domain,
  secret: Pick<Secret, "manageKey">,
): string {
  return `<${origin}/${encodeURIComponent(link.code)}+#key=${secret.manageKey(link)}>; rel="edit"`;
}

function instant(ms: number): string {
  return new Date(ms).toISOString();
}

function instantOrNull(ms: number | undefined): string | null {
  return ms === undefined ? null : instant(ms);
}
