import type { Domain } from "../http/domain.ts";
import type { Code } from "../links/code.ts";
import { linkFields } from "../links/fields.ts";
import { type FoundLink, type Link, stateOf, STATES } from "../links/link.ts";
import { REASONS } from "../links/reasons.ts";
import type { Secret } from "../links/secret.ts";
import type { LinkId } from "../links/store.ts";
import { type KindOf, type ShownName, shownName, TERM_NAMES, type TermName, TERMS } from "../links/terms.ts";
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
};
type TermShape = {
  [N in TermName as ShownName<N>]: ReturnType<(typeof TERM_SCHEMAS)[KindOf<N>]>;
};

function termShape(): TermShape {
  const shape = TERM_NAMES.map((name) => {
    const shown = shownName(name);
    return [shown, TERM_SCHEMAS[TERMS[name].kind](`api.link.${shown}`)] as const;
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
export const linkSchema = z.object(properties).openapi("Link");
export const managedLinkSchema = z
  .object({
    ...properties,
    manage_key: string.openapi({ description: "api.link.manage_key", example: "hXq9JmV0c1B3d2xkUHdyZA" }),
  })
  .openapi("ManagedLink");

export interface LinkContext {
  readonly nowMs: number;
  readonly visits: number;
  /** Whether to show the destination of a link with a password, and how many of its limited visits are used. */
  readonly isMaker: boolean;
}

/** The JSON of a link. */
export function linkJson(
  link: Link | FoundLink,
  domain: Domain,
  { nowMs, visits, isMaker }: LinkContext,
): z.infer<typeof linkSchema> {
  const { code, changed_at, ...fields } = linkFields(link, isMaker);
  const { disabled } = link;
  const path = encodeURIComponent(code);
  return {
    code,
    short_url: domain.shortUrl(code),
    ascii_url: domain.asciiUrl(code),
    ...fields,
    state: stateOf(link, nowMs),
    disabled_reason: disabled === undefined || disabled === "deleted" ? null : disabled,
    changed_at,
    visits,
    qr: { svg: `${domain.origin}/${path}.svg`, png: `${domain.origin}/${path}.png` },
  };
}

/** The same for the link's maker. */
export function managedLinkJson(
  link: Link,
  domain: Domain,
  secret: Pick<Secret, "manageKey">,
  context: Omit<LinkContext, "isMaker">,
): z.infer<typeof managedLinkSchema> {
  return { ...linkJson(link, domain, { ...context, isMaker: true }), manage_key: secret.manageKey(link) };
}

/**
 * The `Link` header with the page that manages a link (RFC 8288; `edit` is of RFC 5023). The key is in the fragment, which
 * browsers send to no server and in no referrer.
 */
export function editLink(link: LinkId<Code>, { origin }: Domain, secret: Pick<Secret, "manageKey">): string {
  return `<${origin}/${encodeURIComponent(link.code)}+#key=${secret.manageKey(link)}>; rel="edit"`;
}
