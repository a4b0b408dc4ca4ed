/** @jsxImportSource ./html */
import { message } from "../language/messages.ts";
import { type Link, NEVER_MS } from "../links/link.ts";
import { Instant } from "./instant.tsx";

type LifetimeProps = Pick<Link, "createdMs" | "endsMs"> & {
  readonly language: string;
  readonly hasEnded: boolean;
  readonly disabledSinceMs?: number | undefined;
};

/** Since when a link works, and until when. */
export function Lifetime({ language, createdMs, endsMs, hasEnded, disabledSinceMs }: LifetimeProps) {
  return (
    <dl class="facts">
      <div>
        <dt>{message(language, "preview.created")}</dt>
        <dd>
          <Instant language={language} ms={createdMs} />
        </dd>
      </div>
      <div>
        <dt>{message(language, hasEnded ? "preview.ended" : "preview.ends")}</dt>
        <dd>
          {endsMs === NEVER_MS ? message(language, "never") : <Instant language={language} ms={endsMs} />}
        </dd>
      </div>
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
