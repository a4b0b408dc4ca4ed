/** @jsxImportSource ../shared/html */
import type { Page } from "../../http/page.ts";
import { REASONS } from "../../links/problem.ts";
import { message } from "../../locales/messages.ts";
import { describeDestination } from "../shared/destination-parts.ts";
import { destinationLabel, FullAddress, Host } from "../shared/destination.tsx";
import {
  describedBy,
  FieldError,
  type FieldErrors,
  Notice,
  TextField,
  VERBATIM,
} from "../shared/form-fields.tsx";
import { page, REPORT_PATH } from "../shared/layout.tsx";
import { Address, Ticket, withoutScheme } from "../shared/ticket.tsx";
import { withPathOf } from "../shared/with-query.ts";

export const REPORT_FIELDS = ["reason", "note"] as const;
/** The first reason. In the fragment of the address, it gets the focus. */
export const REASON_ID = "reason";
export type ReportField = (typeof REPORT_FIELDS)[number];

export interface ReportForm {
  readonly code: string;
  readonly shortUrl: string;
  /** The path after the code of the visit, or "". */
  readonly visited: string;
  /** Undefined if it is secret, behind the link's password. */
  readonly target: string | undefined;
  /** If not, the page shows only the host of the destination. */
  readonly works: boolean;
  readonly form: Readonly<Record<ReportField, string>>;
  readonly errors: FieldErrors<ReportField>;
  /** The problem, if it belongs to no field. */
  readonly notice?: string | undefined;
}

export interface ReportAny {
  readonly address: string;
  readonly errors: FieldErrors<"address">;
}

/** Asks which link to report. */
export function reportAnyPage(language: string, { address, errors }: ReportAny): Page {
  const heading = message(language, "report.any");
  return page(
    language,
    { title: heading, path: REPORT_PATH },
    <>
      <h1>{heading}</h1>
      <div class="columns wide">
        <form action={REPORT_PATH} novalidate>
          <Ticket
            state="blank"
            stub={
              <TextField
                name="address"
                label={message(language, "report.address")}
                errors={errors}
                input={{ ...VERBATIM, value: address, inputmode: "url", required: true, autofocus: true }}
                button={<button class="primary">{message(language, "report.next")}</button>}
              />
            }
          />
        </form>
        <Then language={language} />
      </div>
    </>,
  );
}

export function reportPage(language: string, report: ReportForm): Page {
  const { code, shortUrl, visited, target, works, form, errors, notice } = report;
  const heading = message(language, "report.this");
  const isRefused = Object.keys(errors).length > 0;
  const path = `/${encodeURIComponent(code)}`;
  const destination = target === undefined ? undefined : describeDestination(target);
  const preview = withPathOf(`${path}+`, visited);
  return page(
    language,
    { title: isRefused ? message(language, "report.refused") : heading },
    <>
      <h1>{heading}</h1>
      <div class="columns wide">
        <div>
          <Ticket stub={<Address language={language} url={shortUrl} isTitle={false} preview={preview} />}>
            {visited !== "" && (
              <p class="soft">
                <bdi dir="ltr">{`${withoutScheme(shortUrl).replace(/\/$/, "")}${visited}`}</bdi>
              </p>
            )}
            {destination !== undefined && (
              <>
                <p class="hint">{destinationLabel(language, works)}</p>
                <Host language={language} destination={destination} />
                {works && <FullAddress language={language} address={destination.address} />}
              </>
            )}
          </Ticket>
          <Notice text={notice} />
          <form method="post" action={`${path}+report`} novalidate>
            {visited !== "" && <input type="hidden" name="path" value={visited} />}
            <fieldset class="field" {...("reason" in errors && { "aria-describedby": "reason-error" })}>
              <legend class="question">{message(language, "report.reason")}</legend>
              <FieldError field="reason" errors={errors} />
              <div class="choices wide">
                {REASONS.map((reason, nth) => (
                  <label>
                    <input
                      {...{ type: "radio", name: "reason", value: reason, required: true }}
                      {...(nth === 0 && { id: REASON_ID })}
                      checked={reason === form.reason}
                      autofocus={nth === 0 && "reason" in errors}
                    />
                    <span>
                      <strong>{message(language, `report.reason.${reason}`)}</strong>
                      <small>{message(language, `report.hint.${reason}`)}</small>
                    </span>
                  </label>
                ))}
              </div>
            </fieldset>
            <div class="field">
              <label for="note">{message(language, "report.note")}</label>
              <textarea
                {...{ id: "note", name: "note", rows: 3, dir: "auto" }}
                {...describedBy("note", errors, "note-hint")}
                autofocus={!("reason" in errors) && "note" in errors}
              >
                {/* Browsers drop a line break at the start of a textarea. */}
                {`\n${form.note}`}
              </textarea>
              <FieldError field="note" errors={errors} />
              <p class="hint" id="note-hint">
                {message(language, "report.note.hint")}
              </p>
            </div>
            <button class="primary">{message(language, "report.send")}</button>
          </form>
        </div>
        <Then language={language} />
      </div>
    </>,
  );
}

export function reportedPage(language: string): Page {
  const heading = message(language, "report.thanks");
  return page(
    language,
    { title: heading },
    <>
      <h1>{heading}</h1>
      <p class="lead">{message(language, "report.thanks.next")}</p>
      <div class="columns wide">
        <div>
          <section class="card" aria-labelledby="entered">
            <h2 id="entered">{message(language, "report.entered")}</h2>
            <p>{message(language, "report.entered.next")}</p>
          </section>
          <a class="button" href={REPORT_PATH} rel="nofollow">
            {message(language, "report.another")}
          </a>
        </div>
        <Then language={language} />
      </div>
    </>,
  );
}

/** Says what happens after a report, and how long data about its author is kept. */
function Then({ language }: { language: string }) {
  return (
    <aside>
      <h2>{message(language, "report.then")}</h2>
      <ol>
        {(["operator", "disabled", "nothing"] as const).map((step) => (
          <li>{message(language, `report.then.${step}`)}</li>
        ))}
      </ol>
      <h2>{message(language, "report.kept")}</h2>
      <p>{message(language, "report.privacy")}</p>
    </aside>
  );
}
