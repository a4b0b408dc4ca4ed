/** @jsxImportSource ../shared/html */
import type { Page } from "../../http/page.ts";
import { REASONS } from "../../links/reasons.ts";
import { message } from "../../locales/messages.ts";
import { describeDestination } from "../shared/destination-parts.ts";
import { FullAddress, Host } from "../shared/destination.tsx";
import { describedBy, FieldError, type FieldErrors, Notice, TextField, VERBATIM } from "../shared/fields.tsx";
import { page, REPORT_PATH } from "../shared/layout.tsx";
import { Address, Ticket } from "../shared/ticket.tsx";

export const REPORT_FIELDS = ["reason", "note"] as const;
export type ReportField = (typeof REPORT_FIELDS)[number];

export interface ReportForm {
  readonly code: string;
  readonly shortUrl: string;
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
      <form action={REPORT_PATH}>
        <TextField
          name="address"
          label={message(language, "report.address")}
          errors={errors}
          input={{ ...VERBATIM, value: address, inputmode: "url", required: true, autofocus: true }}
        />
        <button class="primary">{message(language, "report.next")}</button>
      </form>
    </>,
  );
}

export function reportPage(language: string, report: ReportForm): Page {
  const { code, shortUrl, target, works, form, errors, notice } = report;
  const heading = message(language, "report.this");
  const isRefused = Object.keys(errors).length > 0;
  const path = `/${encodeURIComponent(code)}`;
  const destination = target === undefined ? undefined : describeDestination(target);
  return page(
    language,
    { title: isRefused ? message(language, "report.refused") : heading },
    <>
      <h1>{heading}</h1>
      <Ticket stub={<Address language={language} url={shortUrl} isTitle={false} preview={`${path}+`} />}>
        {destination === undefined ? undefined : (
          <>
            <Host language={language} destination={destination} />
            {works && <FullAddress language={language} address={destination.address} />}
          </>
        )}
      </Ticket>
      <Notice text={notice} />
      <form method="post" action={`${path}+report`}>
        <fieldset class="field" {...("reason" in errors && { "aria-describedby": "reason-error" })}>
          <legend>{message(language, "report.reason")}</legend>
          <div class="list">
            {REASONS.map((reason, nth) => (
              <label>
                <input
                  {...{ type: "radio", name: "reason", value: reason, required: true }}
                  checked={reason === form.reason}
                  autofocus={nth === 0 && "reason" in errors}
                />{" "}
                {message(language, `report.reason.${reason}`)}
              </label>
            ))}
          </div>
          <FieldError field="reason" errors={errors} />
        </fieldset>
        <div class="field">
          <label for="note">{message(language, "report.note")}</label>
          <textarea
            {...{ id: "note", name: "note", rows: 5, dir: "auto" }}
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
        <p class="hint">{message(language, "report.privacy")}</p>
      </form>
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
      <p class="soft">{message(language, "report.thanks.next")}</p>
      <p>
        <a href="/">{message(language, "page.home")}</a>
      </p>
    </>,
  );
}
