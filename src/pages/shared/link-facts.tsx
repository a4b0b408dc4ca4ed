/** @jsxImportSource ./html */
import { formerHostOf } from "../../links/change.ts";
import { hasPassword, type Link, NEVER_MS } from "../../links/link.ts";
import { DAY_MS, HOUR_MS } from "../../links/time.ts";
import { message } from "../../locales/messages.ts";
import { numberFormat } from "./formats.ts";
import { Instant, InstantIn } from "./instant.tsx";

/** When the target of a link was last changed. */
export interface Changed {
  readonly atMs: number;
  /** Where it led before, if that is told. */
  readonly formerHost: string | undefined;
}

type LifetimeProps = Pick<Link, "createdMs" | "endsMs"> & {
  readonly language: string;
  readonly hasEnded: boolean;
  readonly maxVisits?: number | undefined;
  readonly changed?: Changed | undefined;
  readonly disabledSinceMs?: number | undefined;
};

/** Since when a link works, and until when, and when it was changed. */
export function Lifetime(props: LifetimeProps) {
  const { language, createdMs, endsMs, hasEnded, maxVisits, changed, disabledSinceMs } = props;
  return (
    <dl class="facts">
      <div>
        <dt>{message(language, "preview.created")}</dt>
        <dd>
          <Instant language={language} ms={createdMs} />
        </dd>
      </div>
      {changed !== undefined && (
        <div>
          <dt>{message(language, "preview.changed")}</dt>
          <dd>
            <Instant language={language} ms={changed.atMs} />
          </dd>
        </div>
      )}
      <div>
        <dt>{message(language, hasEnded ? "preview.ended" : "preview.ends")}</dt>
        <dd>
          {endsMs === NEVER_MS ? message(language, "never") : <Instant language={language} ms={endsMs} />}
        </dd>
      </div>
      {maxVisits !== undefined && (
        <div>
          <dt>{message(language, "preview.max-visits")}</dt>
          <dd>{numberFormat(language).format(maxVisits)}</dd>
        </div>
      )}
      {disabledSinceMs !== undefined && (
        <div>
          <dt>{message(language, "preview.disabled")}</dt>
          <dd>
            <Instant language={language} ms={disabledSinceMs} />
          </dd>
        </div>
      )}
    </dl>
  );
}

interface BeginsProps {
  readonly language: string;
  readonly ms: number;
}

/** When a link begins, and what others see until then. */
export function Begins({ language, ms }: BeginsProps) {
  return (
    <>
      <p class="begins">
        <InstantIn
          language={language}
          text={message(language, "scheduled.begins")}
          place="{starts}"
          ms={ms}
        />
      </p>
      <p class="soft">{message(language, "scheduled.until")}</p>
    </>
  );
}

/** When a link began that did not begin at once. */
export function Began({ language, ms }: BeginsProps) {
  return (
    <p class="soft">
      <InstantIn language={language} text={message(language, "scheduled.began")} place="{starts}" ms={ms} />
    </p>
  );
}

/** What visitors are told of a link that led elsewhere. The former host may be as secret as the present one. */
export function changedOf(link: Pick<Link, "target" | "terms">, nowMs: number): Changed | undefined {
  const { changedMs } = link.terms ?? {};
  if (changedMs === undefined) return undefined;
  return { atMs: changedMs, formerHost: hasPassword(link) ? undefined : formerHostOf(link, nowMs) };
}

const MINUTE_MS = 60_000;

/**
 * Minutes until a link ends, rounded up. Undefined if that is more than a day, or over. Above two hours, it is whole hours,
 * so that a page that tells it seldom changes.
 */
export function minutesLeftOf({ endsMs }: Pick<Link, "endsMs">, nowMs: number): number | undefined {
  const leftMs = endsMs - nowMs;
  if (leftMs <= 0 || leftMs > DAY_MS) return undefined;
  const stepMs = leftMs > 2 * HOUR_MS ? HOUR_MS : MINUTE_MS;
  return (Math.ceil(leftMs / stepMs) * stepMs) / MINUTE_MS;
}
