/** @jsxImportSource ../shared/html */
import type { HttpProblem } from "../../http/problems.ts";
import type { Fields } from "../../lib/bounds.ts";
import { versionOf } from "../../links/change.ts";
import type { StoredLink } from "../../links/link.ts";
import type { Actor } from "../../links/store.ts";
import { targetHost } from "../../links/target.ts";
import { DURATIONS } from "../../links/time.ts";
import { message, type MessageKey } from "../../locales/messages.ts";
import { mainReason } from "../../moderation/case.ts";
import type { LinkDetails } from "../../moderation/inspection.ts";
import type { DecidedLinks, Operator, ReadLink } from "../../moderation/operator.ts";
import { instantOf } from "../forms.ts";
import { describeDestination } from "../shared/destination-parts.ts";
import { richMessage } from "../shared/formats.ts";
import { CopyButton } from "../shared/share.tsx";
import { AnswerForm } from "./cases.tsx";
import { decisionOf } from "./endpoint.ts";
import { Choice, Decide, Field, Form, linkPath, type PageContext, withQuery } from "./frame.tsx";

const EXPIRIES = [...DURATIONS, "never"] as const;

interface ChangeProps {
  readonly context: PageContext;
  readonly link: StoredLink;
  readonly manageUrl: string;
  /** The destination in a refused form. */
  readonly typed?: string | undefined;
}

/** The form with the maker's fields, and the maker's manage link. */
export function Change({ context, link, manageUrl, typed = link.originalUrl }: ChangeProps) {
  const { language } = context;
  const say = (key: MessageKey) => message(language, key);
  const ends = EXPIRIES.map((one) => [one, say(one === "never" ? one : `duration.${one}`)] as const);
  return (
    <>
      <p class="actions">
        <CopyButton language={language} kind="secondary" label="keep.copy" text={manageUrl} />
      </p>
      <details open={typed !== link.originalUrl}>
        <summary>{say("manage.change")}</summary>
        <Form
          context={context}
          action={linkPath(link.code)}
          hidden={{ action: "change", seen: versionOf(link) }}
        >
          <Field label={say("manage.target")} input={{ name: "target", value: typed, required: true }} />
          <Choice
            label={say("manage.ends")}
            name="expires_at"
            options={[["", say("manage.ends.keep")], ...ends]}
          />
          <input type="hidden" name="zone" value="" />
          <Field
            label={richMessage(language, "admin.ends.date", { zone: <span data-zone>UTC</span> })}
            input={{ name: "expires_at_date", type: "datetime-local" }}
          />
          <Decide language={language} action="change" />
        </Form>
      </details>
    </>
  );
}

interface DecisionsProps {
  readonly context: PageContext;
  readonly details: LinkDetails;
}

/** The form that answers the reports, disables or enables a link, and the ways to others with its host. */
export function Decisions({ context, details: { link, reported } }: DecisionsProps) {
  const { language } = context;
  const seen = versionOf(link);
  const isReported = reported !== undefined && reported.answer === undefined;
  const reason = reported === undefined ? "" : mainReason(reported);
  const isDisabled = link.disabled !== undefined;
  const action = isDisabled ? "enable" : "disable";
  const host = targetHost(link.target);
  const shown = { host: describeDestination(link.target).host };
  return (
    <>
      {isReported && <AnswerForm context={context} one={reported} link={link} />}
      {(isDisabled || !isReported) && (
        <Form context={context} action={linkPath(link.code)} hidden={{ action, seen }}>
          <Decide language={language} action={action} reason={isDisabled ? undefined : reason} />
        </Form>
      )}
      <p>
        <a href={withQuery("/admin/hosts", { host, reason })}>
          {message(language, "admin.block-this", shown)}
        </a>
      </p>
      <p>
        <a href={withQuery("/admin/links", { host })}>{message(language, "admin.links-to", shown)}</a>
      </p>
    </>
  );
}

/** The form that deletes a link. */
export function Erasure({ context, link }: Pick<ChangeProps, "context" | "link">) {
  const { language } = context;
  const say = (key: MessageKey) => message(language, key);
  return (
    <details>
      <summary>{say("admin.do.erase")}</summary>
      <p>{say("admin.erase.intro")}</p>
      <Form
        context={context}
        action={linkPath(link.code)}
        hidden={{ action: "erase", seen: versionOf(link) }}
      >
        <label class="check">
          <input type="checkbox" name="confirm" value={link.code} required /> {say("admin.erase.confirm")}
        </label>
        <Decide language={language} action="erase" />
      </Form>
    </details>
  );
}

/** Decides about one link as its form says. False if the form names no decision. */
export async function decide(
  operator: Operator,
  link: ReadLink,
  fields: Fields,
  actor: Actor,
): Promise<HttpProblem | DecidedLinks | boolean> {
  switch (fields.get("action") ?? "") {
    case "change":
      return operator.change(link, { ...decisionOf(fields), ...changeOf(link, fields) }, actor);
    case "disable":
      return operator.disable([link], decisionOf(fields), actor);
    case "enable":
      return operator.enable([link], decisionOf(fields), actor);
    case "erase":
      return fields.get("confirm") === link.code ? operator.erase(link, decisionOf(fields), actor) : false;
    default:
      return false;
  }
}

/** The changes in a form. A date wins over a duration. */
function changeOf({ originalUrl }: StoredLink, fields: Fields) {
  const target = (fields.get("target") ?? originalUrl).trim();
  const [choice, date] = [fields.get("expires_at") ?? "", fields.get("expires_at_date") ?? ""];
  return {
    originalUrl: target === originalUrl ? undefined : target,
    terms: {
      expires_at:
        instantOf(date, fields.get("zone") ?? "") ??
        (choice === "never" ? null : DURATIONS.find((one) => one === choice)),
    },
  };
}
