import type { Refusal } from "../links/problem.ts";

/**
 * The parts of a link that a request names otherwise than the domain. A rule of the domain starts with the part that it applies
 * to.
 */
export type FieldNames = Readonly<Partial<Record<PartOf<Refusal["rule"]>, string>>>;
type PartOf<Rule> = Rule extends `${infer Part}.${string}` ? Part : never;

export const LINK_FIELDS: FieldNames = {};
/** The names in our form, and in `POST /api/v1/shorten`, where the contract fixes them. */
export const SHORTEN_FIELDS: FieldNames = { code: "custom_code", target: "original_url" };

export function partOf<Rule extends string>(rule: Rule): PartOf<Rule> {
  return rule.split(".", 1)[0] as PartOf<Rule>;
}
