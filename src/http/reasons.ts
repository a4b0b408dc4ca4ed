/**
 * Every reason that an error answer can give to programs, in the header `Curt-Reason`. Programs rely on these names: they
 * are never changed, and new ones may come. Most are also the key of the message. `problems.ts` says which problem has
 * which; the OpenAPI document lists them, and so does docs/api.md.
 */
export const REASONS = [
  // A rule about the code of a new link.
  "code.character",
  "code.ill-formed",
  "code.invisible",
  "code.joiner",
  "code.mark",
  "code.reserved",
  "code.space",
  "code.taken",
  "code.too-long",
  // A rule about where a new link leads.
  "target.backslash",
  "target.blocked",
  "target.chain",
  "target.control",
  "target.credentials",
  "target.ill-formed",
  "target.own",
  "target.private",
  "target.scheme",
  "target.space",
  "target.too-long",
  "target.unparsable",
  // A rule about when and how it works.
  "expires.before-start",
  "expires.format",
  "expires.past",
  "max_visits.range",
  "password.length",
  "starts.format",
  // What any body, field or parameter must be.
  "body.coding",
  "body.encoding",
  "body.form",
  "body.interrupted",
  "body.json",
  "body.object",
  "body.too-large",
  "body.type",
  "field.required",
  "field.type",
  "field.values",
  "query.colour",
  "query.date",
  "query.range",
  "query.zone",
  "qr.contrast",
  "stats.order",
  "stats.range",
  "note.ill-formed",
  "note.too-long",
  "cross-site",
  // Why a link that was asked for does not work.
  "link.disabled",
  "link.expired",
  "link.prefetch",
  "link.unknown",
  "link.used-up",
  "link.withdrawn",
  // Why it cannot be managed.
  "edits.closed",
  "key.missing",
  "key.wrong",
  // Who asks, how often, and what for.
  "limit.create",
  "limit.create-all",
  "limit.password",
  "limit.report",
  "limit.token",
  "limit.unknown",
  "limit.view",
  "method",
  "password.missing",
  "password.wrong",
  "route.unknown",
  "token.missing",
  "token.wrong",
  // Our side.
  "internal",
  "store.unavailable",
  // The operator's API and pages.
  "action.unknown",
  "host.invalid",
  "host.own",
  "host.suffix",
  "host.too-many",
  "made_from.invalid",
  "made_to.invalid",
  "operator.confirm",
  "operator.count",
  "operator.missing",
  "operator.no-case",
  "operator.too-many",
  "operator.wrong",
  "reason.unknown",
  "state.unknown",
] as const;

export type ProblemReason = (typeof REASONS)[number];

/** The header. Several reasons are separated by a comma and a space, in the order of the messages. */
export const REASON_HEADER = "Curt-Reason";
