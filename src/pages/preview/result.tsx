/** @jsxImportSource ../shared/html */
import type { Page } from "../../http/page.ts";
import { editableUntilMs, type Edits } from "../../links/edit.ts";
import { NEVER_MS } from "../../links/time.ts";
import { message, type MessageKey } from "../../locales/messages.ts";
import { managePath } from "../manage/page.tsx";
import { InlineQrSheet, QrImage, qrPath } from "../qr/qr-code.tsx";
import { Chip } from "../shared/chip.tsx";
import { describeDestination } from "../shared/destination-parts.ts";
import { DestinationCard } from "../shared/destination.tsx";
import { richMessage } from "../shared/in-words.ts";
import { Instant } from "../shared/instant.tsx";
import { FORM, page } from "../shared/layout.tsx";
import { FutureStart } from "../shared/link-facts.tsx";
import { AsciiAddress, CopyAddress, CopyButton } from "../shared/share.tsx";
import { Address, Ticket, withoutScheme } from "../shared/ticket.tsx";
import type { Preview } from "./page.tsx";
import { Visits } from "./visits-view.tsx";

export type Result = Preview & { readonly manageKey: string };

/** A new link, for the browser that created it a moment ago: its maker came for the address. */
export function resultPage(language: string, result: Result): Page {
  const { code, shortUrl, target, startsMs, endsMs, query } = result;
  const address = withoutScheme(shortUrl);
  const path = `/${encodeURIComponent(code)}`;
  const isPublic = startsMs === undefined;
  const destination = target === undefined ? undefined : describeDestination(target);
  const ends = <Instant language={language} ms={endsMs} />;
  const another = message(language, "preview.another");
  return page(
    language,
    { title: address, query },
    <>
      <div class="title-row wide made">
        <h1 id="made" tabindex={-1}>
          {message(language, "preview.made")}
        </h1>
        <span data-copied hidden>
          <Chip kind="kept">{message(language, "copied")}</Chip>
        </span>
        <a class="button" href={FORM}>
          {another}
        </a>
      </div>
      <div class="columns wide result">
        <div>
          <Ticket
            stub={
              <>
                <Address language={language} url={shortUrl} isTitle={false} />
                <CopyAddress language={language} kind="primary" shortUrl={shortUrl}>
                  {isPublic && (
                    <a class="button" href={qrPath(path)} rel="nofollow">
                      {message(language, "links.qr")}
                    </a>
                  )}
                </CopyAddress>
                {startsMs !== undefined && <FutureStart language={language} ms={startsMs} />}
              </>
            }
            picture={
              isPublic ? (
                <figure class="qr aside">
                  <QrImage language={language} path={path} shortUrl={shortUrl} />
                </figure>
              ) : (
                <InlineQrSheet language={language} shortUrl={shortUrl} destination={destination} />
              )
            }
          >
            <DestinationCard
              {...result}
              {...{
                language,
                destination,
                isOver: false,
                href: undefined,
                showsAddress: true,
                isFirst: false,
              }}
            />
            <p class="chips">
              {isPublic && <Chip kind="works">{message(language, "links.works")}</Chip>}{" "}
              {endsMs === NEVER_MS ? (
                <Chip>{message(language, "home.endless")}</Chip>
              ) : (
                <Chip kind="deadline">{richMessage(language, "links.ends-at", { ends })}</Chip>
              )}
            </p>
            {isPublic && (
              <p class="hint ruled">
                {message(language, "preview.plus")}{" "}
                <a href={`${path}+`} rel="nofollow">
                  <bdi dir="ltr">{address}+</bdi>
                </a>
              </p>
            )}
          </Ticket>
          <AsciiAddress language={language} shortUrl={shortUrl} />
        </div>
        <Keep language={language} {...result} />
      </div>
      {isPublic && (
        <div class="wide">
          <Visits language={language} {...result} />
        </div>
      )}
      <p class="another">
        <a class="button" href={FORM}>
          {another}
        </a>
      </p>
    </>,
  );
}

const MEANINGS: Readonly<Record<Edits, MessageKey>> = {
  on: "keep.meaning.on",
  "24h": "keep.meaning.24h",
  off: "keep.meaning.off",
};

/** Explains the manage key. The script stores it with the links created here. */
function Keep({
  language,
  code,
  createdMs,
  shortUrl,
  manageKey,
  edits,
}: Result & { readonly language: string }) {
  const path = `/${encodeURIComponent(code)}`;
  const address = `${new URL(shortUrl).origin}${path}+#key=${manageKey}`;
  const until = edits === "24h" && <Instant language={language} ms={editableUntilMs({ createdMs }, edits)} />;
  return (
    <section
      {...{ class: "keep card", "aria-labelledby": "keep", "data-key": manageKey }}
      data-link={`/api/v1/links${path}`}
      data-created={new Date(createdMs).toISOString()}
    >
      <h2 id="keep">{message(language, "keep.title")}</h2>
      <p>{richMessage(language, MEANINGS[edits], { until })}</p>
      <p class="kept" data-kept>
        <Chip kind="kept">{message(language, "keep.here")}</Chip>
      </p>
      <input value={address} inputmode="url" aria-labelledby="keep" readonly />
      <div class="actions">
        <CopyButton language={language} kind="secondary" label="keep.copy" text={address} />
      </div>
      <p class="hint">{message(language, "keep.why")}</p>
      <form class="ruled" method="post" action={managePath(code)}>
        <input type="hidden" name="key" value={manageKey} />
        <button class="link">{message(language, "keep.now")}</button>
      </form>
    </section>
  );
}
