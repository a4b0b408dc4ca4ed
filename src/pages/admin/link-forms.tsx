/** @jsxImportSource ../shared/html */
import { type HttpProblem, malformed } from "../../http/problems.ts";
import { versionOf } from "../../links/change.ts";
import type { Decided } from "../../links/link-store.ts";
import type { StoredLink } from "../../links/link.ts";
import { invalid, isProblem } from "../../links/problem.ts";
import { targetHost } from "../../links/target.ts";
import { DURATIONS } from "../../links/time.ts";
import { mainReason } from "../../moderation/case.ts";
import { suggest } from "../../moderation/harm.ts";
import type { HostLinks, LinkDetails } from "../../moderation/inspection.ts";
import { requireSeen } from "../../moderation/operator.ts";
import { instantOf, knownZone } from "../forms.ts";
import { describeDestination } from "../shared/destination-parts.ts";
import { richMessage } from "../shared/in-words.ts";
import { CopyButton } from "../shared/share.tsx";
import { withQuery } from "../shared/with-query.ts";
import { Answers } from "./answers.tsx";
import { Choice, Decide, Field, Form, seenFields } from "./decision-form.tsx";
import { linkPath } from "./link-to.tsx";
import type { OperatorPageParts, SentForm } from "./operator-page.ts";
import type { PageContext } from "./page-context.ts";

const EXPIRIES = [...DURATIONS, "never"] as const;

interface ChangeProps {
  readonly context: PageContext;
  readonly link: StoredLink;
  readonly manageUrl: string;
}

/** The form with the maker's fields, and the maker's manage link. */
export function Change({ context, link, manageUrl }: ChangeProps) {
  const { language, say, sent } = context;
  const zone = knownZone(sent.get("zone") ?? "");
  const ends = EXPIRIES.map((one) => [one, say(one === "never" ? one : `duration.${one}`)] as const);
  return (
    <>
      <p class="actions">
        <CopyButton language={language} kind="secondary" label="keep.copy" text={manageUrl} />
      </p>
      <details class="fold" open={sent.get("action") === "change"}>
        <summary>{say("manage.change")}</summary>
        <Form
          context={context}
          action={linkPath(link.code)}
          hidden={{ action: "change", seen: versionOf(link) }}
          kind="decision"
        >
          <Field
            label={say("manage.target")}
            input={{ name: "target", value: sent.get("target") ?? link.originalUrl, required: true }}
          />
          <Choice
            label={say("manage.ends")}
            name="expires_at"
            value={sent.get("expires_at") ?? ""}
            options={[["", say("manage.ends.keep")], ...ends]}
          />
          <input type="hidden" name="zone" value={zone} />
          <Field
            label={richMessage(language, "admin.ends.date", { zone: <span data-zone>{zone || "UTC"}</span> })}
            input={{
              name: "expires_at_date",
              type: "datetime-local",
              value: sent.get("expires_at_date") ?? "",
            }}
          />
          <Decide context={context} action="change" />
        </Form>
      </details>
    </>
  );
}

interface DecisionsProps {
  readonly context: PageContext;
  readonly details: LinkDetails;
  /** Other links to its host. */
  readonly others: HostLinks;
}

/** The form that answers the reports, disables or enables a link. */
export function Decisions({ context, details: { link, reported }, others }: DecisionsProps) {
  const { say, hasChanged, nowMs } = context;
  const isReported = reported !== undefined && reported.answer === undefined;
  const reason = reported === undefined ? "" : mainReason(reported);
  const isDisabled = link.disabled !== undefined;
  const action = isDisabled ? "enable" : hasChanged ? "disable-anyway" : "disable";
  const host = targetHost(link.target);
  const blockPath = withQuery("/admin/hosts", { host, reason });
  return (
    <>
      {isReported && (
        <Answers
          {...{ context, one: reported, link, host: others, askPath: blockPath, back: linkPath(link.code) }}
          suggestion={suggest({ ...reported, link }, others, nowMs)}
        />
      )}
      {(isDisabled || !isReported) && (
        <Form
          context={context}
          action={linkPath(link.code)}
          hidden={{ action, ...seenFields(link) }}
          kind="decision"
        >
          <Decide context={context} action={action} reason={isDisabled ? undefined : reason} />
        </Form>
      )}
      {!isReported && (
        <a href={blockPath}>{say("admin.block-this", { host: describeDestination(link.target).host })}</a>
      )}
    </>
  );
}

/** The form that deletes a link. */
export function Erasure({ context, link }: Pick<ChangeProps, "context" | "link">) {
  const { say } = context;
  return (
    <details class="fold" open={context.sent.get("action") === "erase"}>
      <summary>{say("admin.do.erase")}</summary>
      <p>{say("admin.erase.intro")}</p>
      <Form
        context={context}
        action={linkPath(link.code)}
        hidden={{ action: "erase", ...seenFields(link) }}
        kind="decision"
      >
        <label class="check">
          <input type="checkbox" name="confirm" value={link.code} required /> {say("admin.erase.confirm")}
        </label>
        <Decide context={context} action="erase" />
      </Form>
    </details>
  );
}

/** Decides about one link as its form says, if the link still is as the form's page showed it. */
export async function decide(
  { operator, cases }: Pick<OperatorPageParts, "operator" | "cases">,
  stored: StoredLink,
  { textOf, action, decision, actor }: SentForm,
): Promise<HttpProblem | Decided> {
  // A maker may keep changing the link.
  const link = requireSeen(stored, action === "disable-anyway" ? undefined : [textOf("seen")]);
  if (isProblem(link)) return link;
  switch (action) {
    case "change": {
      const change = changeOf(link, textOf);
      return isProblem(change) ? change : operator.change(link, { ...decision, ...change }, actor);
    }
    case "disable":
    case "disable-anyway":
      return operator.disable([link], decision, actor);
    case "enable":
      return operator.enable([link], decision, actor);
    case "erase":
      return textOf("confirm") === link.code
        ? operator.erase(link, decision, actor)
        : malformed({ rule: "field.required", field: "confirm" });
    default:
      return cases.answerCase(link, { ...decision, action }, actor);
  }
}

/** The changes in a form. A date wins over a duration. */
function changeOf({ originalUrl }: StoredLink, textOf: SentForm["textOf"]) {
  const [target, choice, date] = [textOf("target").trim(), textOf("expires_at"), textOf("expires_at_date")];
  const endsMs = instantOf(date, textOf("zone"));
  if (date !== "" && endsMs === undefined) return invalid({ rule: "expires_at.format" });
  const expires_at = endsMs ?? (choice === "never" ? null : DURATIONS.find((one) => one === choice));
  return { originalUrl: target === originalUrl ? undefined : target, terms: { expires_at } };
}
