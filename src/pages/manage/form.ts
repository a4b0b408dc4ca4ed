import { type Malformed, malformed } from "../../http/problems.ts";
import type { EditRequest } from "../../links/edit.ts";
import type { FoundLink } from "../../links/link.ts";
import { type Invalid, invalid, isProblem } from "../../links/problem.ts";
import { MAX_TARGET_LENGTH } from "../../links/target.ts";
import { type Duration, DURATIONS } from "../../links/time.ts";
import { instantOf } from "../shared/link-form.ts";
import type { ManageForm } from "./fields.tsx";

/** In UTF-16 units: of a number, a date or a choice that is shown again. */
const MAX_SHOWN = 64;

const ENDS = new Map<string, Duration | "never">([
  ...DURATIONS.map((duration) => [duration, duration] as const),
  ["never", "never"],
]);
const STARTS = new Map([["now", null]]);

/** The key in what was pasted, which may be the whole manage address. */
export function keyIn(pasted: string): string {
  return pasted.trim().replace(/^.*#key=/s, "");
}

/** What the form changes. The domain checks all that can be read. */
export function readChange(sent: URLSearchParams, link: FoundLink): EditRequest | Malformed | Invalid {
  const originalUrl = sent.has("target") ? textOf(sent, "target") : link.originalUrl;
  const starts = readWhen(sent, "starts", STARTS);
  const expiry = readWhen(sent, "expires", ENDS);
  if (isProblem(starts)) return starts;
  if (isProblem(expiry)) return expiry;
  return {
    originalUrl: originalUrl === link.originalUrl ? undefined : originalUrl,
    expiry,
    starts,
    maxVisits: sent.has("max_visits") ? readNumber(textOf(sent, "max_visits")) : undefined,
    password: sent.get("password") || (sent.has("remove") ? null : undefined),
  };
}

/** What was chosen: one of the values, a date in the zone of the form, or nothing, which leaves it as it is. */
function readWhen<Value>(
  sent: URLSearchParams,
  field: "expires" | "starts",
  values: ReadonlyMap<string, Value>,
): Value | number | undefined | Malformed | Invalid {
  const chosen = textOf(sent, field);
  if (chosen === "") return undefined;
  if (chosen === "date")
    return (
      instantOf(textOf(sent, `${field}_date`), textOf(sent, "zone")) ?? invalid({ rule: `${field}.format` })
    );
  if (values.has(chosen)) return values.get(chosen);
  return malformed({ rule: "field.values", field, values: [...values.keys(), "date"].join(", ") });
}

function textOf(sent: URLSearchParams, field: string): string {
  return (sent.get(field) ?? "").trim();
}

/** Null if nothing is written, and no number if something else is: the domain says what is allowed. */
function readNumber(written: string): number | null {
  if (written === "") return null;
  return /^\d+$/.test(written) ? Number(written) : Number.NaN;
}

/** What the fields show again. The password is never shown. */
export function shownAgain(sent: URLSearchParams): ManageForm["sent"] {
  const shown = (field: string, max = MAX_SHOWN) => (sent.get(field) ?? "").slice(0, max);
  return {
    target: shown("target", MAX_TARGET_LENGTH + 1),
    starts: shown("starts"),
    starts_date: shown("starts_date"),
    expires: shown("expires"),
    expires_date: shown("expires_date"),
    zone: shown("zone"),
    max_visits: shown("max_visits"),
  };
}
