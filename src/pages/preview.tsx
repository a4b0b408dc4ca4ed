import { message } from "../language/messages.ts";
import { NEVER_MS } from "../links/link.ts";
/** @jsxImportSource hono/jsx */
import type { Dimension } from "../visits/day.ts";
import { FEWEST_VISITORS, type Statistics } from "../visits/statistics.ts";
import { Chart } from "./chart.tsx";
import { CopyButton } from "./copy.tsx";
import { describeDestination } from "./destination.ts";
import { Instant } from "./instant.tsx";
import { page } from "./layout.tsx";

export interface Preview {
  readonly code: string;
  /** The short address, in readable Unicode. */
  readonly shortUrl: string;
  readonly target: string;
  readonly createdMs: number;
  readonly endsMs: number;
  readonly hasEnded: boolean;
  /** People's visits since the link was made. */
  readonly visits: number;
  readonly bots: number;
  readonly interval: "hour" | "day";
  readonly timeZone: string;
  readonly statistics: Statistics;
}

/** Where a link leads, since when, until when, and its visits: for who is about to follow it, and for its maker. */
export function previewPage(language: string, preview: Preview): string {
  const { code, shortUrl, target, createdMs, endsMs, hasEnded } = preview;
  const { host, asciiHost, isMistakable, address } = describeDestination(target);
  const shown = withoutScheme(shortUrl);
  const { origin } = new URL(shortUrl);
  const path = `/${encodeURIComponent(code)}`;
  const leads = message(language, hasEnded ? "preview.led" : "preview.leads");
  const title = message(language, "preview.title", { address: shown });
  const head = {
    title: hasEnded ? `${message(language, "preview.expired")} ${title}` : title,
    card: {
      // One script can imitate another, and a card is often all that people see.
      description: [
        `${leads}: ${asciiHost === undefined ? host : `${host} (${asciiHost})`}`,
        ...(isMistakable ? [message(language, "preview.mistakable")] : []),
      ].join(" – "),
      origin,
      path: `${path}+`,
    },
  };
  return page(
    language,
    head,
    <>
      <p class="made" id="made" tabindex={-1}>
        {message(language, "preview.made")} <a href="/">{message(language, "preview.another")}</a>
      </p>
      <div class="sides">
        <div>
          <h1 class="address">
            <Address url={shown} />
          </h1>
          {hasEnded ? (
            <p class="error">{message(language, "preview.expired")}</p>
          ) : (
            <Sharing language={language} shortUrl={shortUrl} />
          )}
        </div>
        {!hasEnded && <QrCode language={language} path={path} address={shown} />}
      </div>

      <section class="card" aria-labelledby="leads">
        <h2 id="leads">{leads}</h2>
        <p class="host">
          <bdi dir="ltr">{host}</bdi>
        </p>
        {asciiHost !== undefined && (
          <p class="hint">
            {message(language, "preview.idn")} <bdi dir="ltr">{asciiHost}</bdi>
          </p>
        )}
        {isMistakable && <p class="error">{message(language, "preview.mistakable")}</p>}
        <p class="whole">
          <bdi dir="ltr">{address}</bdi>
        </p>
        {!hasEnded && (
          <p>
            <a class="button" href={`${path}/`} rel="nofollow noreferrer">
              {message(language, "preview.continue", { host })}
            </a>
          </p>
        )}
      </section>

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
      </dl>

      <Visits language={language} {...preview} />
    </>,
  );
}

function Sharing({ language, shortUrl }: { language: string; shortUrl: string }) {
  const { href: ascii } = new URL(shortUrl);
  return (
    <>
      <div class="actions">
        <CopyButton language={language} kind="primary" text={shortUrl}>
          <button type="button" data-share={shortUrl} hidden>
            {message(language, "share")}
          </button>
        </CopyButton>
      </div>
      {ascii !== shortUrl && (
        <details>
          <summary>{message(language, "preview.ascii")}</summary>
          <p class="whole">
            <bdi dir="ltr">{ascii}</bdi> <CopyButton language={language} kind="plain" text={ascii} />
          </p>
        </details>
      )}
    </>
  );
}

/** It may break behind its host. */
function Address({ url }: { url: string }) {
  const [host, ...path] = url.split(/(?<=\/)/);
  return (
    <bdi dir="ltr">
      {host}
      <wbr />
      {path.join("")}
    </bdi>
  );
}

function QrCode({ language, path, address }: { language: string; path: string; address: string }) {
  return (
    <figure class="qr">
      <img src={`${path}.svg`} width="160" height="160" alt={message(language, "preview.qr", { address })} />
      <figcaption>
        {message(language, "preview.qr.save")}
        <a href={`${path}.png?size=1024`} download>
          PNG
        </a>
        <a href={`${path}.svg`} download>
          SVG
        </a>
      </figcaption>
    </figure>
  );
}

/** The dimensions shown; the API has them all. */
const SHOWN = ["referrers", "countries", "browsers", "devices"] as const satisfies Dimension[];
/** Values shown at once; the others are a click away. */
const FIRST_VALUES = 8;

/** A script of ours asks for it anew while the count moves. */
function Visits({
  language,
  code,
  createdMs,
  hasEnded,
  visits,
  bots,
  interval,
  timeZone,
  statistics,
}: Preview & { language: string }) {
  const number = new Intl.NumberFormat(language);
  const { shown, series, visitors, breakdowns } = statistics;
  const days = new Set(series.map(({ start }) => start.slice(0, 10))).size;
  const known = SHOWN.filter((dimension) => breakdowns[dimension].values.length > 0);
  return (
    <section
      id="visits"
      aria-labelledby="visits-title"
      data-link={`/api/v1/links/${encodeURIComponent(code)}`}
      data-created={new Date(createdMs).toISOString()}
      data-visits={visits}
      data-zone={timeZone}
    >
      <h2 id="visits-title">{message(language, "preview.visits.title")}</h2>
      <dl class="facts counts">
        <div>
          <dt id="all-visits">{message(language, "preview.all-visits")}</dt>
          <dd class="count">
            <span role="status" aria-labelledby="all-visits" data-fresh>
              {number.format(visits)}
            </span>
          </dd>
        </div>
        {shown !== "count" && (
          <div>
            <dt>{message(language, "preview.visitors", { days })}</dt>
            <dd class="count" data-fresh>
              {visitors === null
                ? message(language, "preview.visitors.few", { count: FEWEST_VISITORS })
                : number.format(visitors)}
            </dd>
          </div>
        )}
        <div>
          <dt>{message(language, "preview.all-bots")}</dt>
          <dd class="count" data-fresh>
            {number.format(bots)}
          </dd>
        </div>
      </dl>
      <div data-fresh>
        {statistics.visits > 0 && shown !== "count" && (
          <>
            <h3>{message(language, "preview.days", { days })}</h3>
            <Chart language={language} series={series} interval={interval} timeZone={timeZone} />
            {known.length === 0 && <p class="hint">{message(language, "preview.few")}</p>}
          </>
        )}
        {visits + bots === 0 && !hasEnded && <p>{message(language, "preview.waiting")}</p>}
        <div class="breakdowns">
          {known.map((dimension) => (
            <Breakdown language={language} dimension={dimension} {...breakdowns[dimension]} />
          ))}
        </div>
      </div>
      <p class="hint">
        {message(language, "preview.privacy")}{" "}
        {shown !== "count" && `${message(language, "preview.privacy.days")} `}
        {shown === "safe" && `${message(language, "preview.privacy.safe")} `}
        {!hasEnded && (
          <span data-live hidden>
            {message(language, "preview.live")}
          </span>
        )}
      </p>
    </section>
  );
}

type BreakdownProps = Statistics["breakdowns"][Dimension] & {
  language: string;
  dimension: (typeof SHOWN)[number];
};

/** Values that are hidden to protect visitors are one row, apart from those that are folded away to save room. */
function Breakdown({ language, dimension, values, other }: BreakdownProps) {
  const rows = values.map(({ value, visits }) => ({ name: nameOf(language, dimension, value), visits }));
  const [first, more] = [rows.slice(0, FIRST_VALUES), rows.slice(FIRST_VALUES)];
  const hidden = { name: message(language, "preview.other"), visits: other };
  return (
    <div>
      <Values language={language} dimension={dimension} rows={other > 0 ? [...first, hidden] : first} />
      {more.length > 0 && (
        <details id={`more-${dimension}`}>
          <summary>{message(language, "preview.more", { count: more.length })}</summary>
          <Values language={language} dimension={dimension} rows={more} />
        </details>
      )}
    </div>
  );
}

interface ValuesProps {
  readonly language: string;
  readonly dimension: (typeof SHOWN)[number];
  readonly rows: readonly { readonly name: string; readonly visits: number }[];
}

function Values({ language, dimension, rows }: ValuesProps) {
  const number = new Intl.NumberFormat(language);
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">{message(language, `preview.${dimension}`)}</th>
          <th scope="col" class="number">
            {message(language, "preview.visits")}
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, visits }) => (
          <tr>
            <th scope="row">
              <bdi>{name}</bdi>
            </th>
            <td class="number">{number.format(visits)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function nameOf(language: string, dimension: (typeof SHOWN)[number], value: string | null): string {
  if (value === null)
    return message(language, dimension === "referrers" ? "preview.direct" : "preview.unknown");
  switch (dimension) {
    case "countries":
      return new Intl.DisplayNames(language, { type: "region" }).of(value) ?? value;
    case "devices":
      return message(language, `device.${value as "desktop"}`);
    case "referrers":
    case "browsers":
      return value;
  }
}

function withoutScheme(url: string): string {
  return url.replace(/^https?:\/\//, "");
}
