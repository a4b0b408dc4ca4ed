/** @jsxImportSource hono/jsx */
import { message } from "../../language/messages.ts";
import { Decide, Form, framed, Given, type Operator } from "./frame.tsx";
import { type Search, wantedOf } from "./links.tsx";

export interface Found {
  readonly action: "disable" | "enable";
  readonly search: Search;
  readonly count: number;
  /** Some of the hosts that the links lead to, the most frequent first. */
  readonly hosts: readonly { readonly host: string; readonly links: number }[];
  /** True if the number was another one when the operator was last asked. */
  readonly hasChanged: boolean;
}

/** Tells how many links a search finds, and asks before anything is done to them. */
export function foundPage(operator: Operator, { action, search, count, hosts, hasChanged }: Found): string {
  const { language } = operator;
  const wanted = wantedOf(search);
  return framed(
    operator,
    "links",
    message(language, `admin.found.${action}.title`, { count: count.toLocaleString(language) }),
    <>
      {hasChanged && (
        <p class="error" role="alert">
          {message(language, "admin.found.changed")}
        </p>
      )}
      <dl class="facts">
        {Object.entries(wanted).map(([name, value]) => (
          <>
            <dt>{message(language, `admin.found.${name as keyof Search}`)}</dt>
            <dd>
              <Given text={value} />
            </dd>
          </>
        ))}
      </dl>
      <ul class="rows">
        {hosts.map(({ host, links }) => (
          <li>
            <Given text={host} /> <span class="soft">{links.toLocaleString(language)}</span>
          </li>
        ))}
      </ul>
      <Form
        operator={operator}
        action={`/admin/found?${new URLSearchParams(wanted)}`}
        hidden={{ action, count: String(count) }}
      >
        <Decide language={language} action={action} hasReason={action === "disable"} />
      </Form>
      <p>
        <a href={`/admin/links?${new URLSearchParams(wanted)}`}>{message(language, "admin.back")}</a>
      </p>
    </>,
  );
}
