import type { Refusal } from "../links/problem.ts";

/** What a request calls the parts of a link. A rule of the domain begins with the part that it applies to. */
export type FieldNames = Readonly<Record<PartOf<Refusal["rule"]>, string>>;
type PartOf<Rule> = Rule extends `${infer Part}.${string}` ? Part : never;

export const LINK_FIELDS: FieldNames = {
  code: "code",
  target: "target",
  expires: "expires",
  starts: "starts",
  max_visits: "max_visits",
  password: "password",
};
/** The names that the contract fixes for `POST /api/v1/shorten`. Our form has them, too. */
export const SHORTEN_FIELDS: FieldNames = {
  ...LINK_FIELDS,
  code: "custom_code",
  target: "original_url",
};

export function partOf<Rule extends string>(rule: Rule): PartOf<Rule> {
  return rule.split(".", 1)[0] as PartOf<Rule>;
}
