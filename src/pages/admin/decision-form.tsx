/** @jsxImportSource ../shared/html */
import { versionOf } from "../../links/change.ts";
import type { LinkId } from "../../links/link-store.ts";
import type { StoredLink } from "../../links/link.ts";
import { type Reason, REASONS } from "../../links/problem.ts";
import { MAX_NOTE_LENGTH } from "../../moderation/case.ts";
import { goneVersion, readReason } from "../../moderation/operator.ts";
import { VERBATIM } from "../shared/form-fields.tsx";
import type { Child } from "../shared/html/jsx-runtime.ts";
import type { PageContext } from "./page-context.ts";

interface FormProps {
  readonly context: PageContext;
  readonly action: string;
  readonly hidden?: Readonly<Record<string, string>>;
  readonly kind?: "decision" | "picks";
  readonly children?: Child;
}

export function Form({ context, action, hidden = {}, kind, children }: FormProps) {
  return (
    <form method="post" action={action} class={kind} novalidate>
      {Object.entries({ ...hidden, form: context.formToken }).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      {children}
    </form>
  );
}

interface FieldProps {
  readonly label: Child;
  /** Attributes of the input. */
  readonly input: Readonly<Record<string, string | number | boolean | undefined>> & { readonly name: string };
}

export function Field({ label, input }: FieldProps) {
  return (
    <label>
      <span>{label}</span>
      <input {...{ type: "text", value: "", ...VERBATIM, ...input }} />
    </label>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly name: string;
  readonly value?: string | undefined;
  /** The values and their names. */
  readonly options: readonly (readonly [string, string])[];
  /** Whether the user must choose a value other than "". */
  readonly isRequired?: boolean;
}

export function Choice({ label, name, value, options, isRequired = false }: ChoiceProps) {
  return (
    <label>
      <span>{label}</span>
      <select name={name} required={isRequired}>
        {options.map(([option, text]) => (
          <option value={option} selected={option === value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

interface ReasonAndNoteProps {
  readonly context: PageContext;
  /** Undefined: the decision has no reason. "": the operator has to choose one, because a preset one is seldom right. */
  readonly reason?: Reason | "" | undefined;
}

function ReasonAndNote({ context: { say, sent }, reason: preset }: ReasonAndNoteProps) {
  const selected = preset === undefined ? undefined : (readReason(sent.get("reason") ?? "") ?? preset);
  const reasons = REASONS.map((reason) => [reason, say(`reason.${reason}`)] as const);
  const none = ["", say("admin.reason.choose")] as const;
  return (
    <>
      {selected !== undefined && (
        <Choice
          label={say("admin.reason")}
          name="reason"
          value={selected}
          options={selected === "" ? [none, ...reasons] : reasons}
          isRequired
        />
      )}
      <Field
        label={say("admin.note")}
        input={{ name: "note", value: sent.get("note") ?? "", maxlength: MAX_NOTE_LENGTH }}
      />
    </>
  );
}

interface DecideProps extends ReasonAndNoteProps {
  readonly action: "disable" | "enable" | "change" | "hand-over" | "erase" | "block-host" | "disable-anyway";
  /** The button's text, instead of the action's name. */
  readonly text?: string | undefined;
}

const STOPS: ReadonlySet<DecideProps["action"]> = new Set([
  "disable",
  "erase",
  "block-host",
  "disable-anyway",
]);

/** The end of a form that decides something: reason, note and button. */
export function Decide({ context, action, reason, text }: DecideProps) {
  return (
    <>
      <ReasonAndNote context={context} reason={reason} />
      <button class={STOPS.has(action) ? "primary danger" : "primary"}>
        {text ?? context.say(`admin.do.${action}`)}
      </button>
    </>
  );
}

/** The version that the operator sees. A decision about any other version is refused. */
export function seenFields(link: StoredLink | undefined, one?: LinkId) {
  return link === undefined
    ? { seen: one === undefined ? "" : goneVersion(one) }
    : { seen: versionOf(link), was: link.target };
}
