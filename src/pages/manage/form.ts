import type { Edits, Right } from "../../links/edit.ts";
import type { FoundLink } from "../../links/link.ts";
import { type NameOf, TERM_NAMES } from "../../links/terms/terms.ts";
import type { DecisionEntry } from "../../moderation/moderation-store.ts";
import type { Statistics } from "../../visits/statistics/statistics.ts";
import type { FieldErrors } from "../shared/form-fields.tsx";
import type { Changed } from "../shared/link-facts.tsx";

export const MANAGE_FIELDS = ["target", ...TERM_NAMES, "owner", "sure"] as const;
type ManageField = (typeof MANAGE_FIELDS)[number];
type SentField = ManageField | `${NameOf<"when">}_date` | "zone" | "seen";

export interface ManageForm {
  readonly link: FoundLink;
  readonly key: string;
  readonly right: Right;
  /** The token of the person whom the proxy names. */
  readonly formToken: string | undefined;
  readonly shortUrl: string;
  readonly nowMs: number;
  readonly changed: Changed | undefined;
  /** The maker's view of the last days. Undefined while the store is unavailable. */
  readonly statistics: Statistics | undefined;
  /** The last changes by people, for people whom the proxy names. */
  readonly history: readonly DecisionEntry[];
  readonly edits: Edits;
  /** Whether links have owners. */
  readonly hasPeople: boolean;
  readonly pathsNeedName: boolean;
  readonly codeHoldMs: number;
  /** The submitted values of a refused form. */
  readonly values?: Readonly<Partial<Record<SentField, string>>> | undefined;
  readonly errors: FieldErrors<ManageField>;
  /** The problem, if it belongs to no field. */
  readonly notice?: string | undefined;
  /** The confirmation of the last change. */
  readonly done?: string | undefined;
}

/** As `datetime-local`. */
export function localOf(ms: number, zone = "UTC"): string {
  const local = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone).toPlainDateTime();
  return local.toString({ smallestUnit: "minute" });
}

export type FieldProps = ManageForm & { readonly language: string };
