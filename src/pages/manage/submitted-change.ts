import { type Malformed, malformed } from "../../http/problems.ts";
import type { FieldName, Fields } from "../../lib/bounds.ts";
import type { EditRequest } from "../../links/edit.ts";
import type { FoundLink } from "../../links/link.ts";
import { type Invalid, invalid, isProblem } from "../../links/problem.ts";
import { MAX_TARGET_LENGTH } from "../../links/target.ts";
import { type NameOf, TERM_NAMES, TERMS } from "../../links/terms/terms.ts";
import { type Duration, DURATIONS } from "../../links/time.ts";
import { instantOf, MAX_SHOWN, readTerms } from "../forms.ts";
import { localOf, type ManageForm } from "./form.ts";

/** The choices besides a date. */
const CHOICES = {
  expires_at: new Map<string, Duration | null>([
    ...DURATIONS.map((duration) => [duration, duration] as const),
    [TERMS.expires_at.none, null],
  ]),
  starts_at: new Map<string, Duration | null>([[TERMS.starts_at.none, null]]),
} as const satisfies Readonly<Record<NameOf<"when">, unknown>>;

/** The changes in a form. The domain checks everything that can be parsed. */
export function readChange(fields: Fields, link: FoundLink): EditRequest | Malformed | Invalid {
  const originalUrl = fields.has("target") ? textOf(fields, "target") : link.originalUrl;
  const starts_at = readWhen(fields, "starts_at", link.terms?.startsMs);
  const expires_at = readWhen(fields, "expires_at", link.endsMs);
  if (isProblem(starts_at)) return starts_at;
  if (isProblem(expires_at)) return expires_at;
  const { password = fields.has("remove") ? null : undefined, ...terms } = readTerms(
    (name) => fields.getAll(name).at(-1),
    { starts_at, expires_at },
  );
  return {
    originalUrl: originalUrl === link.originalUrl ? undefined : originalUrl,
    terms: { ...terms, password },
    // The form sends all fields, also those that another tab has changed meanwhile.
    ifRevisions: fields.has("seen") ? [textOf(fields, "seen")] : undefined,
  };
}

/** One of the values, a date in the zone of the form, or undefined for no change: the form shows minutes only. */
function readWhen(
  fields: Fields,
  field: NameOf<"when">,
  presentMs: number | undefined,
): Duration | number | null | undefined | Malformed | Invalid {
  const values: ReadonlyMap<string, Duration | null> = CHOICES[field];
  const choice = textOf(fields, field);
  if (choice === "") return undefined;
  if (choice === "date") {
    const zone = textOf(fields, "zone") || "UTC";
    const ms = instantOf(textOf(fields, `${field}_date`), zone);
    if (ms === undefined) return invalid({ rule: `${field}.format` });
    return presentMs !== undefined && localOf(ms, zone) === localOf(presentMs, zone) ? undefined : ms;
  }
  if (values.has(choice)) return values.get(choice);
  return malformed({ rule: "field.values", field, values: [...values.keys(), "date"].join(", ") });
}

export function textOf(fields: Fields, field: FieldName): string {
  return (fields.get(field) ?? "").trim();
}

/** The values that the fields show again, without secrets. */
export function submittedValues(fields: Fields): ManageForm["values"] {
  const valueOf = (field: FieldName, max = MAX_SHOWN) => (fields.getAll(field).at(-1) ?? "").slice(0, max);
  const shown = TERM_NAMES.flatMap((name): FieldName[] => {
    const { kind } = TERMS[name];
    if (kind === "secret") return [];
    return kind === "when" ? [name, `${name as NameOf<"when">}_date`] : [name];
  });
  const values = [...shown, "zone" as const, "seen" as const].map((name) => [name, valueOf(name)] as const);
  return {
    ...Object.fromEntries(values),
    target: valueOf("target", MAX_TARGET_LENGTH + 1),
    owner: valueOf("owner"),
  };
}
