/** @jsxImportSource ../shared/html */
import type { Page } from "../../http/page.ts";
import { revisionOf } from "../../links/change.ts";
import { hasEnded, stateOf } from "../../links/link.ts";
import { message, sentenceSpace } from "../../locales/messages.ts";
import type { Statistics } from "../../visits/statistics/statistics.ts";
import { InlineQrSheet } from "../qr/qr-code.tsx";
import { Breakdowns } from "../shared/charts/breakdowns.tsx";
import { periodOf } from "../shared/charts/dates.ts";
import { describeDestination } from "../shared/destination-parts.ts";
import { FullAddress, Host } from "../shared/destination.tsx";
import { Notice, TextField, VERBATIM } from "../shared/fields.tsx";
import { numberFormat } from "../shared/formats.ts";
import { page } from "../shared/layout.tsx";
import { Fact, PastStart, FutureStart, Lifetime } from "../shared/link-facts.tsx";
import { CopyAddress } from "../shared/share.tsx";
import { Address, Ticket, TicketAddress } from "../shared/ticket.tsx";
import { type FieldProps, type ManageForm, Target, TermFields, Withdrawal } from "./fields.tsx";

export interface KeyForm {
  readonly baseUrl: string;
  readonly code: string;
  readonly error?: string | undefined;
}

/** The address of a link's manage page. No code has a +. */
export function managePath(code: string): string {
  return `/${encodeURIComponent(code)}+manage`;
}

/** Asks for the key. Doesn't reveal whether the link exists. */
export function keyPage(language: string, { baseUrl, code, error }: KeyForm): Page {
  const heading = message(language, "manage.title");
  const errors = error === undefined ? {} : { key: error };
  return page(
    language,
    { title: error === undefined ? heading : message(language, "report.refused") },
    <>
      <h1>{heading}</h1>
      <Ticket stub={<TicketAddress baseUrl={baseUrl} code={code} />}>
        <form method="post" action={managePath(code)}>
          <TextField
            name="key"
            label={message(language, "manage.key")}
            hint={message(language, "manage.key.where")}
            errors={errors}
            input={{ ...VERBATIM, required: true, autofocus: true }}
          />
          <button class="primary">{message(language, "manage.open")}</button>
        </form>
      </Ticket>
    </>,
  );
}

/** The forms that change a link, for the owner of its key. */
export function managePage(language: string, form: ManageForm): Page {
  const { link, key, shortUrl, nowMs, changed, statistics, errors, notice, done } = form;
  const heading = message(language, "manage.title");
  const isRefused = notice !== undefined || Object.keys(errors).length > 0;
  const state = stateOf(link, nowMs);
  const isOver = hasEnded(link, nowMs);
  const isPublic = state !== "withdrawn" && state !== "scheduled";
  const path = `/${encodeURIComponent(link.code)}`;
  const destination = describeDestination(link.target);
  const canChange = !isOver && link.disabled === undefined;
  const visitsLink = (
    <a class="button" href={`${path}+`}>
      {message(language, "manage.preview")}
    </a>
  );
  const action = { method: "post", action: managePath(link.code) } as const;
  return page(
    language,
    { title: isRefused ? message(language, "report.refused") : heading },
    <div class="manage" data-link={`/api/v1/links${path}`}>
      <h1 tabindex={-1}>{heading}</h1>
      <p class="done" role="status" tabindex={-1}>
        {done}
      </p>
      <Notice text={notice} />
      <Ticket
        state={isOver ? "torn" : undefined}
        stub={
          <>
            <Address
              language={language}
              url={shortUrl}
              isTitle={false}
              preview={isPublic ? `${path}+` : undefined}
            />
            {canChange && (
              <CopyAddress language={language} kind="secondary" shortUrl={shortUrl}>
                {isPublic && visitsLink}
              </CopyAddress>
            )}
          </>
        }
        picture={
          state === "scheduled" && (
            <InlineQrSheet language={language} shortUrl={shortUrl} destination={undefined} />
          )
        }
      >
        <Host language={language} destination={destination} />
        <FullAddress language={language} address={destination.address} />
        <Lifetime language={language} {...link} hasEnded={isOver} changed={changed} />
        {link.terms?.createdBy !== undefined && (
          <dl class="lifetime">
            <Fact name={message(language, "created-by")}>{link.terms.createdBy}</Fact>
          </dl>
        )}
      </Ticket>
      <State language={language} link={link} nowMs={nowMs} />
      {isPublic && !canChange && <p>{visitsLink}</p>}
      {statistics?.shown === "all" && statistics.visits > 0 && (
        <LastVisits language={language} statistics={statistics} />
      )}
      {canChange && (
        <section aria-labelledby="change">
          <h2 id="change">{message(language, "manage.change")}</h2>
          {/* The script compares with the present values, which a refused form doesn't show. */}
          <form {...action} {...(!isRefused && { "data-act": "change" })}>
            <Act act="change" manageKey={key} />
            <Target language={language} {...form} />
            <TermFields language={language} {...form} />
            <input type="hidden" name="zone" value={form.values?.zone ?? ""} autocomplete="off" />
            <input
              {...{ type: "hidden", name: "seen", value: form.values?.seen || revisionOf(link) }}
              autocomplete="off"
            />
            <div class="changes" hidden>
              <p class="label">{message(language, "manage.changes")}</p>
              <ul data-changes />
            </div>
            <button class="primary">{message(language, "manage.save")}</button>
          </form>
        </section>
      )}
      {!isOver && (
        <section class="end" aria-labelledby="withdraw">
          <h2 id="withdraw">{message(language, "manage.withdraw")}</h2>
          <form {...action} data-act="withdraw">
            <Act act="withdraw" manageKey={key} />
            <Withdrawal language={language} {...form} />
            <button class="danger">{message(language, "manage.withdraw")}</button>
          </form>
        </section>
      )}
    </div>,
  );
}

/** Exact and live, unlike the public preview. */
function LastVisits({ language, statistics }: { language: string; statistics: Statistics }) {
  const { from, to, visits, visitors } = statistics;
  const number = numberFormat(language);
  return (
    <section aria-labelledby="last-visits">
      <h2 id="last-visits">{message(language, "preview.visits.title")}</h2>
      <p class="hint">{periodOf(language, from, to)} (UTC)</p>
      <dl class="facts">
        <Fact name={message(language, "preview.visits")}>{number.format(visits)}</Fact>
        <Fact name={message(language, "preview.visitors")}>{number.format(visitors ?? 0)}</Fact>
      </dl>
      <Breakdowns language={language} {...statistics} />
    </section>
  );
}

function Act({ act, manageKey }: { act: "change" | "withdraw"; manageKey: string }) {
  return (
    <>
      <input type="hidden" name="act" value={act} />
      <input type="hidden" name="key" value={manageKey} />
    </>
  );
}

/** Why the link doesn't work, and what is still possible. */
function State({ language, link, nowMs }: Pick<FieldProps, "language" | "link" | "nowMs">) {
  const { disabled, terms } = link;
  const over = message(language, "manage.over");
  const state = stateOf(link, nowMs);
  switch (state) {
    case "active":
      return terms?.startsMs === undefined ? <></> : <PastStart language={language} ms={terms.startsMs} />;
    case "scheduled":
      return <FutureStart language={language} ms={terms?.startsMs ?? 0} />;
    case "disabled":
      return (
        <p class="error">
          {message(language, `disabled.${disabled ?? "other"}`)}
          {sentenceSpace(language)}
          {hasEnded(link, nowMs) ? over : message(language, "manage.disabled")}
        </p>
      );
    case "expired":
    case "used_up":
      return (
        <p>
          {message(language, state === "expired" ? "preview.expired" : "preview.expired.visits")}
          {sentenceSpace(language)}
          {over}
        </p>
      );
    case "withdrawn":
      return (
        <p>
          <span class="withdrawn">
            {message(language, "preview.expired.withdrawn")}
            {sentenceSpace(language)}
          </span>
          {over}
        </p>
      );
  }
}
