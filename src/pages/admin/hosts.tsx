/** @jsxImportSource ../shared/html */
import type { Page } from "../../http/page.ts";
import { isProblem } from "../../links/problem.ts";
import type { Reason } from "../../links/reasons.ts";
import { authorityOf } from "../../links/target.ts";
import { message } from "../../locales/messages.ts";
import { readReason } from "../../moderation/operator.ts";
import type { HostRule } from "../../moderation/store.ts";
import { seeOther } from "../forms.ts";
import { HostName } from "../shared/destination.tsx";
import { Notice } from "../shared/fields.tsx";
import { Instant } from "../shared/instant.tsx";
import {
  decisionOf,
  operatorForm,
  operatorPage,
  listPageOf,
  queryValue,
  renderPage,
  actorOf,
} from "./endpoint.ts";
import { Decide, Empty, Field, Form, adminPage, More, type PageContext } from "./frame.tsx";

interface Hosts {
  readonly rules: readonly HostRule[];
  /** Undefined on the last page. */
  readonly cursor: string | undefined;
  /** From the refused form, or from the page of a link. */
  readonly host?: string | undefined;
  readonly reason?: Reason | undefined;
  readonly refusal?: string | undefined;
}

/** The blocked hosts, and the form that blocks another. */
export const showHosts = operatorPage("GET /admin/hosts", (inspection) => async (call, data) => {
  const { items, cursor } = await inspection.hosts(listPageOf(call));
  const host = data.typed ?? queryValue(call, "host");
  const reason = readReason(queryValue(call, "reason"));
  return renderPage(call, data, (context, refusal) =>
    hostsPage(context, { rules: items, cursor, host, reason, refusal }),
  );
});

export const decideHost = operatorForm("POST /admin/hosts", ({ operator, views }) => {
  const show = views.show(showHosts);
  return async (call, fields, formToken) => {
    const hostText = fields.get("host") ?? "";
    // Reports and the address bar contain addresses.
    const host = authorityOf(hostText.trim()).host || hostText;
    const outcome =
      fields.get("action") === "unblock"
        ? await operator.unblockHost(host, decisionOf(fields), actorOf(call))
        : await operator.blockHost(host, decisionOf(fields), actorOf(call));
    return isProblem(outcome)
      ? show(call, { formToken, problem: outcome, typed: hostText })
      : seeOther("/admin/hosts");
  };
});

function hostsPage(context: PageContext, { rules, cursor, host, reason, refusal }: Hosts): Page {
  const { language } = context;
  return adminPage(
    context,
    "hosts",
    message(language, "admin.hosts.title"),
    <>
      <p class="soft">{message(language, "admin.hosts.intro")}</p>
      <Notice text={refusal} />
      <Form context={context} action="/admin/hosts" hidden={{ action: "block" }}>
        <Field
          label={message(language, "admin.host")}
          input={{ name: "host", value: host, required: true }}
        />
        <Decide language={language} action="block-host" reason={reason ?? ""} />
      </Form>
      {rules.length === 0 && <Empty language={language} texts={["admin.hosts.empty"]} />}
      <ul class="rows">
        {rules.map((rule) => (
          <li>
            <strong>
              <HostName host={rule.host} />
            </strong>
            <div class="soft">
              {message(language, `reason.${rule.reason}`)} · <Instant language={language} ms={rule.sinceMs} />
            </div>
            <Form context={context} action="/admin/hosts" hidden={{ action: "unblock", host: rule.host }}>
              <button class="plain" aria-label={message(language, "admin.unblock", { host: rule.host })}>
                {message(language, "admin.do.unblock-host")}
              </button>
            </Form>
          </li>
        ))}
      </ul>
      {cursor !== undefined && <More language={language} path="/admin/hosts" query={{ cursor }} />}
    </>,
  );
}
