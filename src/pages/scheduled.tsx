/** @jsxImportSource ./html */
import { message } from "../language/messages.ts";
import type { Link } from "../links/link.ts";
import { describeDestination, splitHost } from "./destination.ts";
import { InstantIn } from "./instant.tsx";
import { Keep } from "./keep.tsx";
import { type Page, page } from "./layout.tsx";
import { Lifetime } from "./lifetime.tsx";
import { QrDrawn } from "./qr-drawn.tsx";
import { Address, CopyAddress } from "./share.tsx";

export interface Scheduled extends Pick<Link, "code" | "target" | "createdMs" | "endsMs" | "terms"> {
  /** The short address, in readable Unicode. */
  readonly shortUrl: string;
  readonly manageKey: string;
}

/** A link that has not begun, for whoever has just made it. Nobody else is told that there is one. */
export function scheduledPage(language: string, link: Scheduled): Page {
  const { code, shortUrl, target, createdMs, terms, manageKey } = link;
  const shown = shortUrl.replace(/^https?:\/\//, "");
  return page(
    language,
    { title: shown },
    <div
      data-link={`/api/v1/links/${encodeURIComponent(code)}`}
      data-created={new Date(createdMs).toISOString()}
    >
      <p class="made" id="made" tabindex={-1}>
        {message(language, "preview.made")} <a href="/">{message(language, "preview.another")}</a>
      </p>
      <div class="sides">
        <div>
          <Address url={shown} isTitle />
          <CopyAddress language={language} shortUrl={shortUrl} />
          <Begins language={language} ms={terms?.startsMs ?? createdMs} />
        </div>
        <QrDrawn language={language} shortUrl={shortUrl} />
      </div>
      <Keep language={language} code={code} origin={new URL(shortUrl).origin} manageKey={manageKey} />
      <WillLead language={language} target={target} />
      <Lifetime language={language} {...link} hasEnded={false} maxVisits={terms?.maxVisits} />
    </div>,
  );
}

/** When a link begins, and what others see until then. */
export function Begins({ language, ms }: { language: string; ms: number }) {
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
export function Began({ language, ms }: { language: string; ms: number }) {
  return (
    <p class="soft">
      <InstantIn language={language} text={message(language, "scheduled.began")} place="{starts}" ms={ms} />
    </p>
  );
}

function WillLead({ language, target }: Pick<Scheduled, "target"> & { language: string }) {
  const destination = describeDestination(target);
  const [front, domain] = splitHost(destination);
  return (
    <section class="card" aria-labelledby="leads">
      <h2 id="leads">{message(language, "scheduled.leads")}</h2>
      <p class="host">
        <bdi dir="ltr">
          {front}
          <strong>{domain}</strong>
        </bdi>
      </p>
      {destination.isMistakable && <p class="error">{message(language, "preview.mistakable")}</p>}
      <p class="whole">
        <bdi dir="ltr">{destination.address}</bdi>
      </p>
    </section>
  );
}
