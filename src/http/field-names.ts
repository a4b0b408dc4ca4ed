import type { Refusal } from "../links/problem.ts";

/** Names of a link's parts in a request. A rule of the domain starts with the part that it applies to. */
export type FieldNames = Readonly<Record<PartOf<Refusal["rule"]>, string>>;
type PartOf<Rule> = Rule extends `${infer Part}.${string}` ? Part : never;

export const LINK_FIELDS: FieldNames = {
  code: "code",
  domain: "domain",
  target: "target",
  expires_at: "expires_at",
  starts_at: "starts_at",
  max_visits: "max_visits",
  password: "password",
};
/** The names in our form, and in `POST /api/v1/shorten`, where the contract fixes them. */
export const SHORTEN_FIELDS: FieldNames = {
  ...LINK_FIELDS,
  code: "custom_code",
  target: "original_url",
};

export function partOf<Rule extends string>(rule: Rule): PartOf<Rule> {
  return rule.split(".", 1)[0] as PartOf<Rule>;
}
