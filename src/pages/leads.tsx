/** @jsxImportSource hono/jsx */
import type { Hint } from "../guard/suspicion.ts";
import { message } from "../language/messages.ts";
import { type Destination, splitHost } from "./destination.ts";

export interface LeadsProps {
  readonly language: string;
  readonly destination: Destination;
  readonly hints: readonly Hint[];
  readonly hasEnded: boolean;
  /** Where the button leads. */
  readonly href: string;
}

/** Where a link leads, what is unusual about that, and the way on. */
export function Leads({ language, destination, hints, hasEnded, href }: LeadsProps) {
  const { host, asciiHost, isMistakable, address } = destination;
  const [front, domain] = splitHost(destination);
  return (
    <section class="card" aria-labelledby="leads">
      <h2 id="leads">{leadsTo(language, hasEnded)}</h2>
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
      <p class="whole">
        <bdi dir="ltr">{address}</bdi>
      </p>
      {!hasEnded && (
        <p>
          <a class="button" href={href} rel="nofollow noreferrer">
            {message(language, "preview.continue", { host })}
          </a>
        </p>
      )}
    </section>
  );
}

export function leadsTo(language: string, hasEnded: boolean): string {
  return message(language, hasEnded ? "preview.led" : "preview.leads");
}

export function describeHint(language: string, hint: Hint): string {
  switch (hint.hint) {
    case "young": {
      if (hint.hours === 0) return message(language, "hint.fresh");
      const ago = new Intl.RelativeTimeFormat(language).format(-hint.hours, "hour");
      return message(language, "hint.young", { ago });
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
