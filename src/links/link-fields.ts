// What JSON says about a link, once for the API, the operator's API and events.

import type { Code, LinkKey } from "./code.ts";
import { hasPassword, isLimited, type Link, shownCode } from "./link.ts";
import { termFields } from "./terms/term-values.ts";
import type { Viewer } from "./terms/terms.ts";
import { isoInstant } from "./time.ts";

/**
 * Everything that follows from the link alone. Not everybody sees the target of a link with a password and whose it is. Only its
 * maker and the operator see who created it and how many limited visits are used. Undefined leaves a field out, so services
 * without names answer as before.
 */
export function linkFields(
  link: Pick<Link<Code | LinkKey>, "code" | "originalUrl" | "createdMs" | "endsMs" | "terms">,
  viewer: Viewer,
) {
  const { createdMs, terms = {} } = link;
  const isPrivate = viewer !== "everybody";
  return {
    code: shownCode(link),
    target: isPrivate || !hasPassword(link) ? link.originalUrl : null,
    created_at: isoInstant(createdMs),
    ...termFields(link, viewer),
    created_by: viewer === "maker" ? terms.createdBy : undefined,
    owner: isPrivate ? terms.owner : undefined,
    visits_used: viewer === "maker" && isLimited(link) ? (terms.visits ?? 0) : null,
    changed_at: terms.changedMs === undefined ? null : isoInstant(terms.changedMs),
  };
}
