/** @jsxImportSource ../shared/html */
import { message } from "../../locales/messages.ts";
import type { WrittenSearch } from "../../moderation/search.ts";
import type { Page } from "../shared/layout.tsx";
import { Decide, Fact, Form, framed, Given, type Operator, Refusal, withQuery } from "./frame.tsx";
import { SEARCH_LABELS, wantedOf } from "./links.tsx";

export type FoundAction = "disable" | "enable";

export interface Found {
  readonly action: FoundAction;
  readonly search: WrittenSearch;
  readonly count: number;
  /** The hosts that most of the links lead to. */
  readonly hosts: readonly (readonly [host: string, links: number])[];
  readonly refusal: string | undefined;
}

/** Tells how many links a search finds, and asks before anything is done to them. */
export function foundPage(operator: Operator, { action, search, count, hosts, refusal }: Found): Page {
  const { language } = operator;
  const wanted = wantedOf(search);
  return framed(
    operator,
    "links",
    message(language, `admin.found.${action}.title`, { count }),
    <>
      <Refusal text={refusal} />
      <dl class="facts">
        {Object.entries(wanted).map(([name, value]) => (
          <Fact name={message(language, SEARCH_LABELS[name as keyof WrittenSearch])}>
            <Given text={value} />
          </Fact>
        ))}
      </dl>
      <Form
        operator={operator}
        action={withQuery("/admin/found", wanted)}
        hidden={{ action, count: String(count) }}
      >
        <fieldset>
          <legend>
            {message(language, action === "disable" ? "admin.found.block" : "admin.found.hosts")}
          </legend>
          <ul class="rows">
            {hosts.map(([host, links]) => (
              <li>
                {action === "disable" ? (
                  <label class="check">
                    <input type="checkbox" name="block" value={host} /> <Given text={host} />
                  </label>
                ) : (
                  <Given text={host} />
                )}{" "}
                <span class="soft">{message(language, "admin.found.links", { count: links })}</span>
              </li>
            ))}
          </ul>
        </fieldset>
        <Decide language={language} action={action} hasReason={action === "disable"} />
      </Form>
      <p>
        <a href={withQuery("/admin/links", wanted)}>{message(language, "admin.back")}</a>
      </p>
    </>,
  );
}
