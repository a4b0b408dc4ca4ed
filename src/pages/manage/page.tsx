/** @jsxImportSource ../shared/html */
import type { Page } from "../../http/page.ts";
import { revisionOf } from "../../links/change.ts";
import { editableUntilMs } from "../../links/edit.ts";
import { hasEnded, stateOf, shownCode } from "../../links/link.ts";
import { message, sentenceSpace } from "../../locales/messages.ts";
import type { Statistics } from "../../visits/statistics/statistics.ts";
import { InlineQrSheet, qrPath } from "../qr/qr-code.tsx";
import { Breakdowns } from "../shared/charts/breakdowns.tsx";
import { periodOf } from "../shared/charts/dates.ts";
import { describeDestination } from "../shared/destination-parts.ts";
import { FullAddress, Host } from "../shared/destination.tsx";
import { Notice } from "../shared/form-fields.tsx";
import { numberFormat } from "../shared/in-words.ts";
import { page } from "../shared/layout.tsx";
import { Fact, PastStart, FutureStart, Lifetime } from "../shared/link-facts.tsx";
import { CopyAddress, CopyButton } from "../shared/share.tsx";
import { Address, Ticket } from "../shared/ticket.tsx";
import { NewOwner, Target, TermFields, Withdrawal } from "./fields.tsx";
import type { FieldProps, ManageForm } from "./form.ts";
import { History } from "./history.tsx";
import { Setting } from "./setting.tsx";

/** The address of a link's manage page. No code has a +. */
export function managePath(code: string): string {
  return `/${encodeURIComponent(code)}+manage`;
}

/** The forms that change a link, for the owner of its key. */
export function managePage(language: string, form: ManageForm): Page {
  const { link, key, shortUrl, nowMs, statistics, errors, notice, done } = form;
  const heading = message(language, "manage.title");
  const isRefused = notice !== undefined || Object.keys(errors).length > 0;
  const state = stateOf(link, nowMs);
  const isOver = hasEnded(link, nowMs);
  const code = shownCode(link);
  const isMaker = form.right === "maker";
  const path = `/${encodeURIComponent(code)}`;
  const canChange = !isOver && link.disabled === undefined;
  const canEditTarget = nowMs < editableUntilMs(link, form.edits);
  const action = { method: "post", action: managePath(code), novalidate: true } as const;
  return page(
    language,
    { title: isRefused ? message(language, "report.refused") : `${heading} /${code}` },
    <div class="manage wide" data-link={`/api/v1/links${path}`}>
      <h1 tabindex={-1}>
        {heading}{" "}
        <bdi class="short" dir="ltr">
          /{code}
        </bdi>
      </h1>
      <p class="done" role="status" tabindex={-1}>
        {done}
      </p>
      <Notice text={notice} />
      <State language={language} link={link} nowMs={nowMs} />
      <div class="columns">
        <div>
          {canChange && (
            // The script compares with the present values, which a refused form doesn't show.
            <form {...action} {...(!isRefused && { "data-act": "change" })}>
              <Act act="change" {...form} />
              <Target language={language} {...form} />
              <div class="changes" hidden>
                <p class="label">{message(language, "manage.changes")}</p>
                <ul data-changes />
              </div>
              {canEditTarget && <button class="primary">{message(language, "manage.save")}</button>}
              <div class="settings">
                <TermFields language={language} {...form} />
              </div>
              <input type="hidden" name="zone" value={form.values?.zone ?? ""} autocomplete="off" />
              <input
                {...{ type: "hidden", name: "seen", value: form.values?.seen || revisionOf(link) }}
                autocomplete="off"
              />
            </form>
          )}
          {form.hasPeople && isMaker && (
            <Setting
              language={language}
              name={message(language, "owner")}
              present={link.terms?.owner ?? message(language, "manage.none")}
              change="manage.hand-over"
              isOpen={"owner" in errors}
            >
              <form {...action}>
                <Act act="hand-over" {...form} />
                <NewOwner language={language} {...form} />
                <button>{message(language, "manage.hand-over")}</button>
              </form>
            </Setting>
          )}
          {!isOver && isMaker && (
            <Setting
              language={language}
              name={message(language, "manage.withdraw")}
              present={message(language, "manage.withdraw.short")}
              change="manage.withdraw.open"
              isOpen={"sure" in errors}
              isDanger
            >
              <form {...action} data-act="withdraw">
                <Act act="withdraw" {...form} />
                <Withdrawal language={language} {...form} />
                <button class="danger">{message(language, "manage.withdraw")}</button>
              </form>
            </Setting>
          )}
        </div>
        <div>
          <LinkTicket
            language={language}
            {...form}
            isPublic={state !== "withdrawn" && state !== "scheduled"}
          />
          {key !== "" && !isOver && (
            <div class="actions">
              <p class="hint">{message(language, "manage.key.power")}</p>
              <CopyButton
                language={language}
                kind="secondary"
                label="keep.copy"
                text={`${new URL(shortUrl).origin}${path}+#key=${key}`}
              />
            </div>
          )}
          {form.history.length > 0 && (
            <History
              language={language}
              history={form.history}
              canRetarget={canEditTarget}
              BringBack={
                canChange
                  ? ({ entry }) => (
                      <form {...action}>
                        <Act act="bring-back" {...form} />
                        <input type="hidden" name="entry" value={entry.entry} />
                        <button>
                          {message(language, "manage.bring-back")}{" "}
                          <span class="unseen">
                            {message(language, "admin.entry", { entry: String(entry.entry) })}
                          </span>
                        </button>
                      </form>
                    )
                  : undefined
              }
            />
          )}
        </div>
      </div>
      {statistics?.shown === "all" && statistics.visits > 0 && (
        <LastVisits language={language} statistics={statistics} />
      )}
    </div>,
  );
}

/** The link with its current values, whatever the forms below contain. */
function LinkTicket(props: FieldProps & { readonly isPublic: boolean }) {
  const { language, link, shortUrl, nowMs, changed, right, isPublic } = props;
  const path = `/${encodeURIComponent(shownCode(link))}`;
  const isOver = hasEnded(link, nowMs);
  const destination = describeDestination(link.target);
  const { owner } = link.terms ?? {};
  const createdBy = right === "maker" ? link.terms?.createdBy : undefined;
  const canShare = !isOver && link.disabled === undefined;
  return (
    <Ticket
      state={isOver ? "torn" : undefined}
      stub={
        <>
          <Address language={language} url={shortUrl} isTitle={false} />
          {canShare ? (
            <CopyAddress language={language} kind="secondary" shortUrl={shortUrl}>
              {isPublic && [
                <PreviewLink language={language} path={path} />,
                " ",
                <a class="button" href={qrPath(path)} rel="nofollow">
                  {message(language, "links.qr")}
                </a>,
              ]}
            </CopyAddress>
          ) : (
            isPublic && <PreviewLink language={language} path={path} />
          )}
        </>
      }
      picture={
        canShare &&
        !isPublic && <InlineQrSheet language={language} shortUrl={shortUrl} destination={undefined} />
      }
    >
      <Host language={language} destination={destination} />
      <FullAddress language={language} address={destination.address} />
      <Lifetime language={language} {...link} hasEnded={isOver} changed={changed} />
      {(createdBy ?? owner) !== undefined && (
        <dl class="lifetime">
          {owner !== undefined && <Fact name={message(language, "owner")}>{owner}</Fact>}
          {createdBy !== undefined && <Fact name={message(language, "created-by")}>{createdBy}</Fact>}
        </dl>
      )}
    </Ticket>
  );
}

function PreviewLink({ language, path }: { language: string; path: string }) {
  return (
    <a class="button" href={`${path}+`}>
      {message(language, "manage.preview")}
    </a>
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

type ActProps = Pick<ManageForm, "key" | "formToken"> & {
  readonly act: "change" | "withdraw" | "hand-over" | "bring-back";
};

function Act({ act, key, formToken }: ActProps) {
  return (
    <>
      <input type="hidden" name="act" value={act} />
      <input type="hidden" name="key" value={key} />
      {formToken !== undefined && <input type="hidden" name="form" value={formToken} />}
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
