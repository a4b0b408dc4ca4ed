/** @jsxImportSource ../shared/html */
import { formerOf, FORMER_HOST_MS } from "../../links/change.ts";
import { type Edits, editableUntilMs } from "../../links/edit.ts";
import { type FoundLink, hasStarted, hasPassword } from "../../links/link.ts";
import { targetHost } from "../../links/target.ts";
import { message, sentenceSpace } from "../../locales/messages.ts";
import type { Statistics } from "../../visits/statistics/statistics.ts";
import { describeDestination } from "../shared/destination-parts.ts";
import { described, FieldError, type FieldErrors } from "../shared/field.tsx";
import { InstantIn } from "../shared/instant.tsx";
import type { Changed } from "../shared/lifetime.tsx";
import { lasting } from "../shared/time-words.ts";

export const MANAGE_FIELDS = ["target", "starts", "expires", "max_visits", "password", "sure"] as const;
type ManageField = (typeof MANAGE_FIELDS)[number];
type SentField = ManageField | "starts_date" | "expires_date" | "zone";

export interface ManageForm {
  readonly link: FoundLink;
  readonly key: string;
  /** The short address, in readable Unicode. */
  readonly shortUrl: string;
  readonly nowMs: number;
  readonly changed: Changed | undefined;
  /** Of the last days, as only its maker sees them. Undefined if the store is away. */
  readonly statistics: Statistics | undefined;
  readonly edits: Edits;
  readonly codeHoldMs: number;
  /** The values of the fields as they were sent, if they were refused. */
  readonly sent?: Readonly<Partial<Record<SentField, string>>> | undefined;
  readonly errors: FieldErrors<ManageField>;
  /** What was not done, if no field is to blame. */
  readonly notice?: string | undefined;
  /** What was done. */
  readonly done?: string | undefined;
}

// Each field says beforehand what its change will do.

export type FieldProps = ManageForm & { readonly language: string };

/** Where the link leads, if that cannot be changed. */
export function Destination({ language, link }: Pick<FieldProps, "language" | "link">) {
  return (
    <>
      <p class="label">{message(language, "manage.target")}</p>
      <p class="whole">
        <bdi dir="ltr">{link.originalUrl}</bdi>
      </p>
    </>
  );
}

export function Target({ language, link, nowMs, edits, sent, errors }: FieldProps) {
  const untilMs = editableUntilMs(link, edits);
  if (nowMs >= untilMs)
    return (
      <div class="field">
        <Destination language={language} link={link} />
        <p class="hint">{message(language, edits === "off" ? "manage.target.off" : "manage.target.over")}</p>
      </div>
    );
  const { formerHost: host } = formerOf(link, nowMs);
  const { host: shown } = host === targetHost(link.target) ? describeDestination(link.target) : { host };
  return (
    <div class="field">
      <label for="target">{message(language, "manage.target")}</label>
      <input
        {...{ id: "target", name: "target", value: sent?.target ?? link.originalUrl, type: "text" }}
        {...{ inputmode: "url", autocomplete: "off", autocapitalize: "none", spellcheck: false }}
        {...described("target", errors, "target-hint")}
        autofocus={"target" in errors}
        required
      />
      <FieldError field="target" errors={errors} />
      <p class="hint" id="target-hint">
        {hasPassword(link) || !hasStarted(link, nowMs)
          ? message(language, "manage.target.secret")
          : message(language, "manage.target.hint", { host: shown, days: lasting(language, FORMER_HOST_MS) })}
        {Number.isFinite(untilMs) && (
          <>
            {sentenceSpace(language)}
            <InstantIn
              language={language}
              text={message(language, "manage.target.until")}
              place="{until}"
              ms={untilMs}
            />
          </>
        )}
      </p>
    </div>
  );
}

export function Visits({ language, link, sent, errors }: FieldProps) {
  const { maxVisits, visits = 0 } = link.terms ?? {};
  return (
    <div class="field">
      <label for="max_visits">{message(language, "manage.visits")}</label>
      <input
        {...{ id: "max_visits", name: "max_visits", type: "text", inputmode: "numeric", autocomplete: "off" }}
        value={sent?.max_visits ?? String(maxVisits ?? "")}
        {...described("max_visits", errors, "max_visits-hint")}
        autofocus={"max_visits" in errors}
      />
      <FieldError field="max_visits" errors={errors} />
      <p class="hint" id="max_visits-hint">
        {message(language, "manage.visits.hint")}
        {maxVisits !== undefined && ` ${message(language, "manage.visits.used", { used: visits })}`}
      </p>
    </div>
  );
}

export function Password({ language, link, errors }: FieldProps) {
  const has = hasPassword(link);
  return (
    <div class="field">
      <label for="password">{message(language, "manage.password")}</label>
      {/* Browsers that saved it would offer it for every other link. */}
      <input
        {...{ id: "password", name: "password", type: "password", autocomplete: "off" }}
        {...described("password", errors, "password-hint")}
        autofocus={"password" in errors}
      />
      <FieldError field="password" errors={errors} />
      <p class="hint" id="password-hint">
        {message(language, has ? "manage.password.keep" : "manage.password.none")}
      </p>
      {has && (
        <div class="list">
          <label>
            <input type="checkbox" name="remove" value="yes" /> {message(language, "manage.password.remove")}
          </label>
        </div>
      )}
    </div>
  );
}

export function Withdrawal({ language, codeHoldMs, errors }: FieldProps) {
  return (
    <div class="field">
      <p id="withdraw-hint">
        {codeHoldMs === 0
          ? message(language, "manage.withdraw.free")
          : message(language, "manage.withdraw.hint", { held: lasting(language, codeHoldMs) })}
      </p>
      <div class="list">
        <label>
          <input
            {...{ type: "checkbox", name: "sure", value: "yes", required: true }}
            {...described("sure", errors, "withdraw-hint")}
            autofocus={"sure" in errors}
          />{" "}
          {message(language, "manage.sure")}
        </label>
      </div>
      <FieldError field="sure" errors={errors} />
    </div>
  );
}
