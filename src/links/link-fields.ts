// What JSON says about a link, once for the API, the operator's API and export files.

import type { Code, LinkKey } from "./code.ts";
import { hasPassword, isLimited, type Link, shownCode } from "./link.ts";
import { termFields } from "./terms/term-values.ts";
import type { Viewer } from "./terms/terms.ts";
import { isoInstant } from "./time.ts";

/**
 * Everything that follows from the link alone. Not everybody sees the target of a link with a password, and the names of who
 * created the link and whose it is. Undefined leaves a field out, so services without names answer as before.
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
    created_by: isPrivate ? terms.createdBy : undefined,
    owner: isPrivate ? terms.owner : undefined,
    visits_used: isPrivate && isLimited(link) ? (terms.visits ?? 0) : null,
    changed_at: terms.changedMs === undefined ? null : isoInstant(terms.changedMs),
  };
}
