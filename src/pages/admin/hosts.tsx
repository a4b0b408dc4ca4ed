/** @jsxImportSource ../shared/html */
import type { Page } from "../../http/page.ts";
import type { Reason } from "../../links/reasons.ts";
import { message } from "../../locales/messages.ts";
import type { HostRule } from "../../moderation/store.ts";
import { Notice } from "../shared/fields.tsx";
import { Instant } from "../shared/instant.tsx";
import { Decide, Field, Form, adminPage, Given, More, type PageContext } from "./frame.tsx";

export interface Hosts {
  readonly rules: readonly HostRule[];
  /** Undefined on the last page. */
  readonly cursor: string | undefined;
  /** From the refused form, or from the page of a link. */
  readonly host?: string | undefined;
  readonly reason?: Reason | undefined;
  readonly refusal?: string | undefined;
}

export function hostsPage(context: PageContext, { rules, cursor, host, reason, refusal }: Hosts): Page {
  const { language } = context;
  return adminPage(
    context,
    "hosts",
    message(language, "admin.hosts"),
    <>
      <p class="soft">{message(language, "admin.hosts.intro")}</p>
      <Notice text={refusal} />
      <Form context={context} action="/admin/hosts" hidden={{ action: "block" }}>
        <Field label={message(language, "admin.host")} name="host" value={host} isRequired />
        <Decide language={language} action="block-host" reason={reason ?? ""} />
      </Form>
      {rules.length === 0 && <p>{message(language, "admin.hosts.empty")}</p>}
      <ul class="rows">
        {rules.map((rule) => (
          <li>
            <div>
              <strong>
                <Given text={rule.host} />
              </strong>
            </div>
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
