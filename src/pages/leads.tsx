/** @jsxImportSource ./html */
import type { Hint } from "../guard/suspicion.ts";
import { message } from "../language/messages.ts";
import { memoize } from "../memoize.ts";
import { type Destination, splitHost } from "./destination.ts";

export interface LeadsProps {
  readonly language: string;
  readonly destination: Destination;
  readonly hints: readonly Hint[];
  /** Where the button leads. Undefined if the link leads nowhere any more. */
  readonly href: string | undefined;
  /** Set if the button sends a form. */
  readonly method?: "post" | undefined;
  /** Whether the whole address is shown, or the host alone. */
  readonly showsAddress: boolean;
}

/** Where a link leads, what is unusual about that, and the way on. */
export function Leads({ language, destination, hints, href, method, showsAddress }: LeadsProps) {
  const { host, asciiHost, isMistakable, address } = destination;
  const [front, domain] = splitHost(destination);
  return (
    <section class="card" aria-labelledby="leads">
      <h2 id="leads">{leadsTo(language, href !== undefined)}</h2>
      <p class="host">
        <bdi dir="ltr">
          {front}
          <strong>{domain}</strong>
        </bdi>
      </p>
      {asciiHost !== undefined && (
        <p class="hint">
          {message(language, "preview.idn")} <bdi dir="ltr">{asciiHost}</bdi>
        </p>
      )}
      {isMistakable && <p class="error">{message(language, "preview.mistakable")}</p>}
      {hints.length > 0 && (
        <ul class="hints">
          {hints.map((hint) => (
            <li>{describeHint(language, hint)}</li>
          ))}
        </ul>
      )}
      {showsAddress && (
        <p class="whole">
          <bdi dir="ltr">{address}</bdi>
        </p>
      )}
      {href !== undefined && method !== undefined && (
        <form method={method} action={href}>
          <button class="button">{message(language, "preview.continue", { host })}</button>
        </form>
      )}
      {href !== undefined && method === undefined && (
        <p>
          <a class="button" href={href} rel="nofollow noreferrer">
            {message(language, "preview.continue", { host })}
          </a>
        </p>
      )}
    </section>
  );
}

export function leadsTo(language: string, leadsOn: boolean): string {
  return message(language, leadsOn ? "preview.leads" : "preview.led");
}

const relativeTime = memoize((language) => new Intl.RelativeTimeFormat(language));

export function describeHint(language: string, hint: Hint): string {
  switch (hint.hint) {
    case "young":
    case "changed": {
      if (hint.hours === 0)
        return message(language, hint.hint === "young" ? "hint.fresh" : "hint.changed.fresh");
      const ago = relativeTime(language).format(-hint.hours, "hour");
      return message(language, `hint.${hint.hint}`, { ago });
    }
    case "address":
    case "port":
    case "imitation":
    case "front":
    case "labels": {
      const { hint: kind, ...values } = hint;
      return message(language, `hint.${kind}`, values);
    }
  }
}
