// Values of each term, for the tests that try every door. The kind of a term determines its wrong values.
import { expect } from "bun:test";

import type { ProblemReason } from "../../src/http/problem-reasons.ts";
import { FIELDS } from "../../src/lib/bounds.ts";
import type { LinkKey } from "../../src/links/code.ts";
import {
  type Kind,
  type KindOf,
  type Kinds,
  type NameOf,
  isSeenBy,
  shownName,
  TERM_NAMES,
  type TermName,
  TERMS,
  type Viewer,
} from "../../src/links/terms/terms.ts";
import { operateAs } from "../admin/operator.ts";
import { callApi, createManagedLink, type ManagedLink } from "../support/managed-links.ts";
import { openStoreOf, type RunningService } from "../support/service.ts";

interface Sample<Sent> {
  /** Two valid values. Instants are whole minutes, because forms accept no others. */
  readonly values: readonly [Sent, Sent];
  /** Invalid values, for reasons that only this term of its kind has. */
  readonly refused?: readonly (readonly [value: Sent, reason: ProblemReason])[];
}

const LONG_AGO = "2001-01-01T00:00:00.000Z";

/** Values as JSON contains them. */
export const SAMPLES = {
  expires_at: {
    values: ["2099-01-01T00:00:00.000Z", "2099-06-01T12:30:00.000Z"],
    refused: [[LONG_AGO, "expires_at.past"]],
  },
  starts_at: {
    values: ["2098-01-01T00:00:00.000Z", "2098-06-01T12:30:00.000Z"],
    refused: [[LONG_AGO, "starts_at.past"]],
  },
  max_visits: { values: [5, 70] },
  // Nothing trims it.
  password: { values: [" open sesame ", "correct horse"] },
  forward_query: { values: [true, false] },
  forward_path: { values: [true, false] },
  title: { values: ["Spring sale", "봄 세일 🌸"] },
} satisfies { readonly [N in TermName]: Sample<Kinds[KindOf<N>]["sent"]> } as Readonly<
  Record<TermName, Sample<Value>>
>;

export type Value = Kinds[Kind]["sent"];
/** Null removes a term. */
export type Given = { readonly [N in TermName]?: Value | null };
type WrongValues = readonly (readonly [value: Value, reason: string])[];

/** Only changes have this reason: creates may arrive late. */
export const ONLY_IN_CHANGES = "starts_at.past";
const WRONG_TYPE = "field.type";

/** Invalid values, and the reasons of their refusals. */
export function wrongValues(name: TermName): WrongValues {
  return [...WRONG[TERMS[name].kind](name as never), ...(SAMPLES[name].refused ?? [])];
}

/** Invalid values for doors that send everything as text. */
export function wrongTexts(name: TermName): WrongValues {
  return [
    ...wrongValues(name).filter(([, reason]) => reason !== WRONG_TYPE),
    ...(TERMS[name].kind === "count" ? COUNTS_AS_TEXT : []).map((text) => [text, `${name}.range`] as const),
  ];
}

/** Some parse as infinite, which JSON sends as null. */
const COUNTS_AS_TEXT = ["many", "1e400", "9".repeat(400)];

/** Texts that are longer than any body. */
export function endlessTexts(name: TermName): WrongValues {
  return TERMS[name].kind === "flag" ? [] : [["9".repeat(100_000), "too long"]];
}

const WRONG: { readonly [K in Kind]: (name: NameOf<K>) => WrongValues } = {
  when: (name) => [
    ["soon", `${name}.format`],
    ["9".repeat(FIELDS[name] + 1), `${name}.format`],
    [5, WRONG_TYPE],
  ],
  count(name) {
    const { min, max } = TERMS[name].bounds;
    const outside = [min - 1, max + 1, min + 0.5].map((value) => [value, `${name}.range`] as const);
    return [...outside, ["5", WRONG_TYPE]];
  },
  secret: (name) => [
    ["x".repeat(TERMS[name].bounds.max + 1), `${name}.length`],
    ["x".repeat(FIELDS[name] + 1), `${name}.length`],
    [5, WRONG_TYPE],
  ],
  flag: () => [["yes", WRONG_TYPE]],
  text: (name) => [
    ["x".repeat(TERMS[name].bounds.max + 1), `${name}.length`],
    ["x".repeat(FIELDS[name] + 1), `${name}.length`],
    ["two\tcells", `${name}.character`],
    [5, WRONG_TYPE],
  ],
};

/** The JSON of a link with these terms. If its start was removed, it has any instant. */
export function shownTerms(given: Given, viewer: Viewer = "maker"): Readonly<Record<string, unknown>> {
  const shown = TERM_NAMES.filter((name) => isSeenBy(name, viewer)).map((name) => {
    const term = TERMS[name];
    const value = given[name] ?? null;
    const isNow = given[name] === null && "none" in term && term.none === "now";
    return [shownName(name), isNow ? expect.any(String) : SHOWN[term.kind](value)] as const;
  });
  return Object.fromEntries(shown);
}

const SHOWN: { readonly [K in Kind]: (value: Value | null) => unknown } = {
  when: (value) => value,
  count: (value) => value,
  secret: (value) => value !== null,
  flag: (value) => value === true,
  text: (value) => value,
};

/** A link that has started can't get another start. */
export const SCHEDULED: Given = { starts_at: SAMPLES.starts_at.values[0] };

/** Creates a scheduled link with the first sample of a term. */
export function createScheduled(curt: RunningService, name: TermName): Promise<ManagedLink> {
  return createManagedLink(curt, { ...SCHEDULED, [name]: SAMPLES[name].values[0] });
}

export type CreatedLink = Pick<ManagedLink, "code" | "key">;

/** Checks a link's terms in the API, in the operator's API and, for secrets, in the store. */
export async function expectTerms(
  curt: RunningService,
  { code, key }: CreatedLink,
  given: Given,
): Promise<void> {
  const shown = shownTerms(given);
  expect((await callApi(curt, "GET", `/api/v1/links/${code}`, { key })).data).toMatchObject(shown);
  expect((await operateAs(curt)("GET", `links/${code}`)).data).toMatchObject(shown);
  await using store = await openStoreOf(curt);
  const { terms = {} } = (await store.find(code as LinkKey)) ?? {};
  const stored: Readonly<Record<string, unknown>> = { ...terms };
  for (const name of TERM_NAMES) {
    const value = given[name];
    if (TERMS[name].kind === "secret" && typeof value === "string")
      expect(await Bun.password.verify(value, String(stored[TERMS[name].stored])), name).toBeTrue();
  }
}
