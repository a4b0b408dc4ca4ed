/** @jsxImportSource ../shared/html */
import { REASONS } from "../../links/link.ts";
import { message, sentenceSpace } from "../../locales/messages.ts";
import { describeDestination } from "../shared/destination-parts.ts";
import { described, FieldError, type FieldErrors, Notice } from "../shared/field.tsx";
import { FullAddress, Host } from "../shared/host.tsx";
import { type Page, page, REPORT_PATH } from "../shared/layout.tsx";

export const REPORT_FIELDS = ["reason", "note"] as const;
export type ReportField = (typeof REPORT_FIELDS)[number];

export interface ReportForm {
  readonly code: string;
  /** The short address, in readable Unicode. */
  readonly shortUrl: string;
  /** Undefined if only those who know its password are told. */
  readonly target: string | undefined;
  /** If not, the page tells no more than the host that it led to. */
  readonly works: boolean;
  /** The values of the fields. */
  readonly form: Readonly<Record<ReportField, string>>;
  /** Why the values of fields were refused. */
  readonly errors: FieldErrors<ReportField>;
  /** Why the report was not sent, if no field is to blame. */
  readonly notice?: string | undefined;
}

export interface ReportAny {
  /** The value of the field. */
  readonly address: string;
  readonly errors: FieldErrors<"address">;
}

/** The form that asks which link to report. */
export function reportAnyPage(language: string, { address, errors }: ReportAny): Page {
  const heading = message(language, "report.any");
  return page(
    language,
    { title: heading },
    <>
      <h1>{heading}</h1>
      <form action={REPORT_PATH}>
        <div class="field">
          <label for="address">{message(language, "report.address")}</label>
          <input
            {...{ id: "address", name: "address", value: address, type: "text", inputmode: "url" }}
            {...{ autocomplete: "off", autocapitalize: "none", spellcheck: false, required: true }}
            {...described("address", errors)}
            autofocus
          />
          <FieldError field="address" errors={errors} />
        </div>
        <button class="primary">{message(language, "report.next")}</button>
      </form>
    </>,
  );
}

/** The form that reports a link. */
export function reportPage(language: string, report: ReportForm): Page {
  const { code, shortUrl, target, works, form, errors, notice } = report;
  const heading = message(language, "report.this");
  const isRefused = Object.keys(errors).length > 0;
  const destination = target === undefined ? undefined : describeDestination(target);
  return page(
    language,
    { title: isRefused ? message(language, "report.refused") : heading },
    <>
      <h1>{heading}</h1>
      <section class="card" aria-labelledby="reported">
        <p id="reported">
          <bdi dir="ltr">{shortUrl.replace(/^https?:\/\//, "")}</bdi>
        </p>
        {destination !== undefined && <Host destination={destination} />}
        {destination?.asciiHost !== undefined && (
          <p class="hint">
            {message(language, "preview.idn")}
            {sentenceSpace(language)}
            <bdi dir="ltr">{destination.asciiHost}</bdi>
          </p>
        )}
        {works && destination !== undefined && (
          <FullAddress language={language} address={destination.address} />
        )}
      </section>
      <Notice text={notice} />
      <form method="post" action={`/${encodeURIComponent(code)}+report`}>
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
            {...described("note", errors, "note-hint")}
            autofocus={!("reason" in errors) && "note" in errors}
          >
            {/* Browsers drop a line break at the beginning of a textarea. */}
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

/** Says that a report has arrived. */
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
