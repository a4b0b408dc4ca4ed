/** @jsxImportSource hono/jsx */
import type { JournalEntry } from "../../guard/store.ts";
import type { InspectedLink } from "../../guard/inspection.ts";
import { message } from "../../language/messages.ts";
import { type Link, NEVER_MS } from "../../links/link.ts";
import { targetHost } from "../../links/target.ts";
import { Instant } from "../instant.tsx";
import { Decide, Form, framed, Given, linkPath, type Operator, Refusal } from "./frame.tsx";
import { History } from "./history.tsx";
import { stateInWords } from "./links.tsx";

export interface LinkLooked {
  readonly link: InspectedLink;
  readonly visits: number;
  readonly bots: number;
  /** Newest first. */
  readonly history: readonly JournalEntry[];
  readonly nowMs: number;
  readonly refusal?: string | undefined;
}

/** One link: what it is, what can be done about it, and what was. */
export function linkPage(operator: Operator, looked: LinkLooked): string {
  const { language } = operator;
  const { link, refusal } = looked;
  const say = (key: Parameters<typeof message>[1]) => message(language, key);
  return framed(
    operator,
    "links",
    <Given text={link.code} />,
    <>
      <Refusal text={refusal} />
      <Facts language={language} looked={looked} />
      {link.disabled !== "deleted" && <Decisions operator={operator} link={link} />}
      <h2>{say("admin.history")}</h2>
      <History language={language} entries={looked.history} />
    </>,
  );
}

function Facts({ language, looked }: { language: string; looked: LinkLooked }) {
  const { link, visits, bots, nowMs } = looked;
  const say = (key: Parameters<typeof message>[1]) => message(language, key);
  return (
    <dl class="facts">
      <dt>{say("admin.state")}</dt>
      <dd>{stateInWords(language, link, nowMs)}</dd>
      {link.disabled !== "deleted" && (
        <>
          <dt>{say("preview.leads")}</dt>
          <dd>
            <Given text={link.target} />
          </dd>
        </>
      )}
      {link.originalUrl !== link.target && link.disabled !== "deleted" && (
        <>
          <dt>{say("admin.as-sent")}</dt>
          <dd>
            <Given text={link.originalUrl} />
          </dd>
        </>
      )}
      <dt>{say("preview.created")}</dt>
      <dd>
        <Instant language={language} ms={link.createdMs} />
      </dd>
      <dt>{say("preview.ends")}</dt>
      <dd>{link.endsMs === NEVER_MS ? say("never") : <Instant language={language} ms={link.endsMs} />}</dd>
      <dt>{say("preview.visits")}</dt>
      <dd>{visits.toLocaleString(language)}</dd>
      <dt>{say("preview.bots")}</dt>
      <dd>{bots.toLocaleString(language)}</dd>
    </dl>
  );
}

function Decisions({ operator, link }: { operator: Operator; link: Link }) {
  const { language } = operator;
  const say = (key: Parameters<typeof message>[1]) => message(language, key);
  const action = linkPath(link.code);
  const host = targetHost(link.target);
  return (
    <>
      {link.disabled === undefined ? (
        <Form operator={operator} action={action} hidden={{ action: "disable" }}>
          <Decide language={language} action="disable" hasReason />
        </Form>
      ) : (
        <Form operator={operator} action={action} hidden={{ action: "enable" }}>
          <Decide language={language} action="enable" />
        </Form>
      )}
      <p class="actions">
        <a class="button" href={`/admin/hosts?${new URLSearchParams({ host })}`}>
          {message(language, "admin.block-this", { host })}
        </a>
        <a class="button" href={`/admin/links?${new URLSearchParams({ host })}`}>
          {message(language, "admin.links-to", { host })}
        </a>
      </p>
      <details>
        <summary>{say("admin.do.erase")}</summary>
        <p>{say("admin.erase.intro")}</p>
        <Form operator={operator} action={action} hidden={{ action: "erase" }}>
          <label class="check">
            <input type="checkbox" name="confirm" value={link.code} required /> {say("admin.erase.confirm")}
          </label>
          <Decide language={language} action="erase" />
        </Form>
      </details>
    </>
  );
}
