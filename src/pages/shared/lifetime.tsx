/** @jsxImportSource ./html */
import { type Link } from "../../links/link.ts";
import { NEVER_MS } from "../../links/time.ts";
import { message } from "../../locales/messages.ts";
import { numberFormat } from "./charts/chart.tsx";
import { Instant } from "./instant.tsx";

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
