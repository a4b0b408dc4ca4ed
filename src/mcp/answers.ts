import { z } from "zod";

import { NEVER_MS } from "../links/link.ts";
import { MAX_TARGET_LENGTH } from "../links/target.ts";
import { type Dimension, DIMENSIONS } from "../visits/dimensions.ts";
import { plain } from "./plain.ts";

// What models get (shapes), and how it is read from what the service answers (answers). Texts and lists have a bounded length,
// because a model reads all of it.

const MAX_VALUES = 10;
const MAX_SERIES = 400;

const text = (maxLength: number) => z.string().transform((written) => plain(written, maxLength));
const shortUrl = text(2048);
const codeText = text(512);
const destination = text(MAX_TARGET_LENGTH);
const instant = text(40);
/** Null stands for never. */
const end = instant.transform((written) => (Date.parse(written) >= NEVER_MS ? null : written));
const count = z.number().nonnegative();

const told = {
  short_url: z.string().describe("The short address, to hand out"),
  code: z.string(),
  destination: z.string().describe("Where the link leads"),
  expires: z.string().nullable().describe("When it ends; null if it never ends"),
};

export const shortLinkShape = z.object(told);
export const shortLinkAnswer = z
  .object({ short_url: shortUrl, code: codeText, original_url: destination, expiration_date: end })
  .transform(renamed);

export const linkShape = z.object({
  ...told,
  host: z
    .string()
    .nullable()
    .describe("Host of the destination in ASCII, where letters that look like others show"),
  created: z.string(),
  disabled: z
    .string()
    .nullable()
    .describe("Why the operator of the service stopped the link; null if the operator did not"),
  visits: count.describe("By people, since it was made"),
});
export const linkAnswer = z
  .object({
    short_url: shortUrl,
    code: codeText,
    original_url: destination,
    expiration_date: end,
    created: instant,
    disabled: text(100).nullable(),
    visits: count,
  })
  .transform((link) => ({ ...renamed(link), host: URL.parse(link.original_url)?.host ?? null }));

function renamed<T extends { readonly original_url: string; readonly expiration_date: string | null }>({
  original_url,
  expiration_date,
  ...rest
}: T) {
  return { ...rest, destination: original_url, expires: expiration_date };
}

const breakdown = z
  .object({ values: z.array(z.object({ value: text(300).nullable(), visits: count })) })
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
  visitors: count.nullable().describe("An estimate; null where it is not told"),
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
