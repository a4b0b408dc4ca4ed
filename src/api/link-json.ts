import type { Domain } from "../http/domain.ts";
import { linkFields } from "../links/link-fields.ts";
import { type FoundLink, hasPassword, type Link, stateOf, STATES } from "../links/link.ts";
import { REASONS } from "../links/problem.ts";
import {
  isSeenBy,
  type KindOf,
  type PrivateName,
  type ShownName,
  shownName,
  TERM_NAMES,
  type TermName,
  TERMS,
  type Viewer,
} from "../links/terms/terms.ts";
import type { MessageKey } from "../locales/messages.ts";
import { codeField, count, EXAMPLE, instant, reference, shortUrl, string } from "./openapi/components.ts";
import { z } from "./openapi/schema.ts";

const address = (ending: string, description?: MessageKey) =>
  string.openapi({
    format: "uri",
    ...(description !== undefined && { description }),
    example: `{base}/${encodeURIComponent(EXAMPLE.custom_code)}${ending}`,
  });
const state = reference(z.enum(STATES).openapi("LinkState"));
const disabledReason = reference(z.enum([...REASONS, "blocklist"]).openapi("DisabledReason"));

/** The schema of each kind of term in a response. */
const TERM_SCHEMAS = {
  when: (description: MessageKey) => instant(description).nullable().openapi({ example: null }),
  count: (description: MessageKey) => z.int().nullable().openapi({ description, example: null }),
  secret: (description: MessageKey) => z.boolean().openapi({ description, example: false }),
  flag: (description: MessageKey) => z.boolean().openapi({ description, example: false }),
  text: (description: MessageKey) => string.nullable().openapi({ description, example: null }),
};
type TermSchema<N extends TermName> = ReturnType<(typeof TERM_SCHEMAS)[KindOf<N>]>;
/** Visitors don't get private ones. */
type TermShape = {
  [N in TermName as ShownName<N>]: N extends PrivateName ? z.ZodOptional<TermSchema<N>> : TermSchema<N>;
};

function termShape(): TermShape {
  const shape = TERM_NAMES.map((name) => {
    const shown = shownName(name);
    const schema: z.ZodType = TERM_SCHEMAS[TERMS[name].kind](`api.link.${shown}`);
    return [shown, isSeenBy(name, "everybody") ? schema : schema.optional()] as const;
  });
  return Object.fromEntries(shape) as unknown as TermShape;
}

// Both schemas are whole: generators lose parts of a schema that extends another.
const properties = {
  code: codeField,
  short_url: shortUrl,
  ascii_url: address("/", "api.link.ascii_url"),
  target: string.nullable().openapi({ description: "api.link.target", example: EXAMPLE.original_url }),
  created_at: instant("api.link.created_at", "2026-01-01T00:00:00.000Z"),
  ...termShape(),
  visits_used: z.int().nullable().openapi({ description: "api.link.visits_used", example: null }),
  created_by: string.optional().openapi({ description: "api.link.created_by", example: "newsletter" }),
  owner: string.optional().openapi({ description: "api.link.owner", example: "mina" }),
  state: state.openapi({ description: "api.link.state", example: "active" }),
  disabled_reason: disabledReason
    .nullable()
    .openapi({ description: "api.link.disabled_reason", example: null }),
  changed_at: instant("api.link.changed_at").nullable().openapi({ example: null }),
  visits: count("api.link.visits", 120),
  qr: z
    .object({ svg: address(".svg"), png: address(".png") })
    .openapi("QrCodes", { description: "api.link.qr" }),
};
const keyField = string.openapi({
  description: "api.link.manage_key",
  example: "hXq9JmV0c1B3d2xkUHdyZA",
});
export const linkSchema = z.object(properties).openapi("Link");
export const managedLinkSchema = z
  .object({
    ...properties,
    manage_key: keyField,
  })
  .openapi("ManagedLink");

/** The key is missing in responses to people who may change the link and aren't its owner. */
export const changedLinkSchema = z
  .object({ ...properties, manage_key: keyField.optional() })
  .openapi("ChangedLink");

export interface LinkContext {
  readonly nowMs: number;
  readonly visits: number;
  /** Only the maker gets the destination of a link with a password. */
  readonly viewer: Viewer;
}

/** The JSON of a link. */
export function linkJson(
  link: Link | FoundLink,
  domain: Domain,
  { nowMs, visits, viewer }: LinkContext,
): z.infer<typeof linkSchema> {
  const { code, changed_at, ...fields } = linkFields(link, viewer);
  const { disabled } = link;
  const path = encodeURIComponent(code);
  return {
    code,
    short_url: domain.shortUrl(code),
    ascii_url: domain.asciiUrl(code),
    ...fields,
    ...(viewer === "colleagues" && hasPassword(link) && { target: null }),
    state: stateOf(link, nowMs),
    disabled_reason: disabled === undefined || disabled === "deleted" ? null : disabled,
    changed_at,
    visits,
    qr: { svg: `${domain.origin}/${path}.svg`, png: `${domain.origin}/${path}.png` },
  };
}

/** The same for the link's maker. */
export function managedLinkJson(
  link: Link | FoundLink,
  domain: Domain,
  manageKey: string,
  context: Omit<LinkContext, "viewer">,
): z.infer<typeof managedLinkSchema> {
  return { ...linkJson(link, domain, { ...context, viewer: "maker" }), manage_key: manageKey };
}

/** The same after a change. Without a key for somebody who is not the maker, or not any more. */
export function changedLinkJson(
  link: Link | FoundLink,
  domain: Domain,
  manageKey: string | undefined,
  context: Omit<LinkContext, "viewer">,
): z.infer<typeof changedLinkSchema> {
  if (manageKey !== undefined) return managedLinkJson(link, domain, manageKey, context);
  return linkJson(link, domain, { ...context, viewer: "colleagues" });
}
