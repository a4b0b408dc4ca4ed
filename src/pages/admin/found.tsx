/** @jsxImportSource hono/jsx */
import type { WrittenSearch } from "../../guard/link-query.ts";
import { message } from "../../language/messages.ts";
import { Decide, Form, framed, Given, type Operator, Refusal } from "./frame.tsx";
import { SEARCH_LABELS, wantedOf } from "./links.tsx";

export type FoundAction = "disable" | "enable";

export interface Found {
  readonly action: FoundAction;
  readonly search: WrittenSearch;
  readonly count: number;
  /** Some of the hosts that the links lead to, the most frequent first. */
  readonly hosts: readonly (readonly [host: string, links: number])[];
  readonly refusal: string | undefined;
}

/** Tells how many links a search finds, and asks before anything is done to them. */
export function foundPage(operator: Operator, { action, search, count, hosts, refusal }: Found): string {
  const { language } = operator;
  const wanted = wantedOf(search);
  return framed(
    operator,
    "links",
    message(language, `admin.found.${action}.title`, { count: count.toLocaleString(language) }),
    <>
      <Refusal text={refusal} />
      <dl class="facts">
        {Object.entries(wanted).map(([name, value]) => (
          <>
            <dt>{message(language, SEARCH_LABELS[name as keyof WrittenSearch])}</dt>
            <dd>
              <Given text={value} />
            </dd>
          </>
        ))}
      </dl>
      <ul class="rows">
        {hosts.map(([host, links]) => (
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
