import { z } from "zod";

import { MAX_TARGET_LENGTH } from "../links/target.ts";
import {
  isSeenBy,
  type ShownName,
  shownName,
  TERM_NAMES,
  type TermFields,
  TERMS,
} from "../links/terms/terms.ts";
import { type Dimension, DIMENSIONS } from "../visits/days/dimensions.ts";

// Shapes describe results for models. Answers parse responses of the service into these. Texts and lists have a bounded length,
// because a model reads all of it.

const MAX_VALUES = 10;
const MAX_SERIES = 400;

const boundedText = (maxLength: number) => z.string().transform((written) => plain(written, maxLength));
const codeText = boundedText(512);
const instant = boundedText(40);
const count = z.number().nonnegative();

const TERM_WORDS = {
  expires_at: "null if it never ends",
  starts_at: "null if it started when it was created",
  max_visits: "After so many visits it ends; null if they are not limited",
  has_password: "Whether visitors must enter a password",
  forward_query: "Whether the query of a visit is passed on to the target",
  forward_path: "Whether the path after the code of a visit is passed on to the target",
  title: "The link's purpose; null if its maker has not given one, absent without the manage key",
} as const satisfies Readonly<Record<ShownName, string>>;

/** The schemas of the terms in a result. */
function termsIn(when: z.ZodType<string>, text: z.ZodType<string>) {
  const schemas = {
    when: when.nullable(),
    count: count.nullable(),
    secret: z.boolean(),
    flag: z.boolean(),
    text: text.nullable(),
  };
  const entries = TERM_NAMES.map((name) => {
    const shown = shownName(name);
    const schema: z.ZodType = schemas[TERMS[name].kind].describe(TERM_WORDS[shown]);
    return [shown, isSeenBy(name, "everybody") ? schema : schema.optional()] as const;
  });
  return Object.fromEntries(entries) as unknown as {
    [Name in keyof TermFields]: z.ZodType<TermFields[Name]>;
  };
}

export const linkShape = z.object({
  short_url: z.string().describe("The short address, to hand out"),
  code: z.string(),
  target: z
    .string()
    .nullable()
    .describe("Where the link leads; null if that needs a password or the manage key"),
  host: z
    .string()
    .nullable()
    .describe("Host of the target in ASCII, where letters that look like others show"),
  state: z.string().describe("Only an active link redirects"),
  disabled_reason: z
    .string()
    .nullable()
    .describe("Why the operator of the service stopped the link; null if the operator did not"),
  created_at: z.string(),
  changed_at: z.string().nullable().describe("When its maker last changed the target; null if never"),
  ...termsIn(z.string(), z.string()),
  visits: count.describe("By people, since it was created"),
});
export const managedLinkShape = linkShape.extend({
  manage_key: z
    .string()
    .describe(
      "Anyone who has it can change or end the link. Give it to the person who asked for the link, and to nobody else",
    ),
});

const link = z.object({
  short_url: boundedText(2048),
  code: codeText,
  target: boundedText(MAX_TARGET_LENGTH).nullable(),
  state: boundedText(40),
  disabled_reason: boundedText(40).nullable(),
  created_at: instant,
  changed_at: instant.nullable(),
  ...termsIn(instant, boundedText(TERMS.title.bounds.max * 2)),
  visits: count,
});
export const linkAnswer = link.transform(withHost);
export const managedLinkAnswer = link.extend({ manage_key: boundedText(100) }).transform(withHost);

function withHost<T extends z.output<typeof link>>(fields: T) {
  const { target } = fields;
  return { ...fields, host: target === null ? null : (URL.parse(target)?.host ?? null) };
}

const breakdown = z
  .object({ values: z.array(z.object({ value: boundedText(300).nullable(), visits: count })) })
  .transform(({ values }) => values.slice(0, MAX_VALUES));
const breakdowns = Object.fromEntries(DIMENSIONS.map((dimension) => [dimension, breakdown])) as Record<
  Dimension,
  typeof breakdown
>;

export const statisticsShape = z.object({
  code: z.string(),
  from: z.string(),
  to: z.string(),
  visits: count.describe("By people"),
  bots: count.describe("Visits by programs"),
  visitors: count.nullable().describe("An estimate; null if unknown"),
  days: z.array(z.object({ day: z.string(), visits: count, bots: count })).describe("Only days with visits"),
  most_frequent: z
    .record(z.enum(DIMENSIONS), z.array(z.object({ value: z.string().nullable(), visits: count })))
    .describe("A value is null if it is unknown"),
});
export const statisticsAnswer = z
  .object({
    code: codeText,
    from: instant,
    to: instant,
    visits: count,
    bots: count,
    visitors: count.nullable(),
    series: z.array(z.object({ start: instant, visits: count, bots: count })),
    ...breakdowns,
  })
  .transform(({ code, from, to, visits, bots, visitors, series, ...most_frequent }) => ({
    code,
    from,
    to,
    visits,
    bots,
    visitors,
    days: series
      .filter((day) => day.visits + day.bots > 0)
      .slice(-MAX_SERIES)
      .map(({ start, ...counts }) => ({ day: start, ...counts })),
    most_frequent,
  }));

/** Invisible, private and unassigned characters, which could hide text for a model, except those that codes and emoji need. */
const UNSEEN =
  /(?<emoji>\p{RGI_Emoji})|[[\p{C}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]--\p{Join_Control}--\u{FE0F}]/gv;

/**
 * Bounds text from a service, and percent-encodes invisible characters, before a model gets it. In an address, that changes
 * nothing.
 */
export function plain(text: string, maxLength: number): string {
  const cut = text.slice(0, maxLength).toWellFormed();
  const visible = cut.replace(UNSEEN, (character, emoji?: string) => emoji ?? encodeURIComponent(character));
  return visible.length > maxLength || text.length > maxLength ? `${visible.slice(0, maxLength)}…` : visible;
}
