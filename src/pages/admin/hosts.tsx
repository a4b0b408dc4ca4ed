/** @jsxImportSource ../shared/html */
import { message } from "../../locales/messages.ts";
import type { HostRule } from "../../moderation/store.ts";
import { Instant } from "../shared/instant.tsx";
import type { Page } from "../shared/layout.tsx";
import { Decide, Field, Form, framed, Given, More, type Operator, Refusal } from "./frame.tsx";

export interface Hosts {
  readonly rules: readonly HostRule[];
  /** Of the rules that follow; undefined if there are none. */
  readonly cursor: string | undefined;
  /** What a form sent before, or the page of a link suggests. */
  readonly host?: string | undefined;
  readonly refusal?: string | undefined;
}

/** The rules about hosts, and the form that adds one. */
export function hostsPage(operator: Operator, { rules, cursor, host, refusal }: Hosts): Page {
  const { language } = operator;
  return framed(
    operator,
    "hosts",
    message(language, "admin.hosts"),
    <>
      <p class="soft">{message(language, "admin.hosts.intro")}</p>
      <Refusal text={refusal} />
      <Form operator={operator} action="/admin/hosts" hidden={{ action: "block" }}>
        <Field label={message(language, "admin.host")} name="host" value={host} isRequired />
        <Decide language={language} action="block-host" hasReason />
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
            <Form operator={operator} action="/admin/hosts" hidden={{ action: "unblock", host: rule.host }}>
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
