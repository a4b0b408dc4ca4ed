/** @jsxImportSource ./html */
import { languageName, LANGUAGES, message } from "../language/messages.ts";
import { memoize, once } from "../memoize.ts";
import { assets } from "./assets/assets.ts";
import { type Child, write } from "./html/jsx-runtime.ts";

/** The page that asks which link to report. No code has a +. */
export const REPORT_PATH = "/+report";

/** The metadata of a page. */
export interface Head {
  readonly title: string;
  /** For search engines and link previews in chats. Only for pages that should be found or shared. */
  readonly card?: { readonly description: string; readonly origin: string; readonly path: string };
  /** How people reach the operator, as a URI. */
  readonly contact?: string | null | undefined;
  /** What the page depends on, to be kept when the language is switched. */
  readonly query?: Readonly<Record<string, string>>;
}

/** Renders a whole page. Its language links assume that `?language=` works at the page's address. */
export function page(language: string, { title, card, contact, query = {} }: Head, content: Child): string {
  const document = (
    <html lang={language}>
      <head>
        {metadata()}
        <title>{title}</title>
        {card !== undefined && <Card title={title} {...card} />}
        {assetLinks()}
      </head>
      <body>
        <a class="skip" href="#content">
          {message(language, "page.skip")}
        </a>
        <header class="top">
          <a class="brand" href="/">
            Curt
          </a>
          <nav aria-label={message(language, "page.reference")}>
            <a href="/docs">API</a>
          </nav>
          {Object.keys(query).length === 0 ? (
            plainLanguages(language)
          ) : (
            <Languages current={language} query={query} />
          )}
        </header>
        <main id="content" tabindex={-1}>
          {content}
        </main>
        <footer class="bottom">
          <a href={REPORT_PATH} rel="nofollow">
            {message(language, "page.report")}
          </a>
          {typeof contact === "string" && <Contact language={language} uri={contact} />}
        </footer>
      </body>
    </html>
  );
  return `<!doctype html>${write(document)}`;
}

// What is the same on every page is written once.
const metadata = once(() => (
  <>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="theme-color" content="#fbfaf7" media="(prefers-color-scheme: light)" />
    <meta name="theme-color" content="#171614" media="(prefers-color-scheme: dark)" />
  </>
));
const assetLinks = once(() => (
  <>
    <link rel="stylesheet" href={assets.style.path} />
    <link rel="icon" href={assets.icon.path} type="image/svg+xml" />
    <link rel="apple-touch-icon" href={assets.touchIcon.path} />
    <link rel="manifest" href={assets.manifest.path} />
    <script type="module" src={assets.script.path}></script>
  </>
));
const plainLanguages = memoize((language) => <Languages current={language} query={{}} />);

/** An e-mail address is shown, because not every reader has a program that opens mailto: links. */
function Contact({ language, uri }: { language: string; uri: string }) {
  const [, address] = /^mailto:([^?]+)/.exec(uri) ?? [];
  return (
    <span>
      {message(language, "page.contact")}{" "}
      <a href={uri}>
        <bdi dir="ltr">{address ?? uri.replace("https://", "")}</bdi>
      </a>
    </span>
  );
}

/** The Open Graph protocol. */
function Card({ title, description, origin, path }: { title: string } & Required<Head>["card"]) {
  return (
    <>
      <meta name="description" content={description} />
      <meta property="og:type" content="website" />
      <meta property="og:site_name" content="Curt" />
      <meta property="og:title" content={title} />
      <meta property="og:description" content={description} />
      <meta property="og:url" content={origin + path} />
      <meta property="og:image" content={origin + assets.largeIcon.path} />
    </>
  );
}

function Languages({ current, query }: { current: string } & Required<Pick<Head, "query">>) {
  return (
    <nav aria-label={message(current, "page.languages")}>
      {LANGUAGES.map((language) => (
        <>
          {" "}
          <a
            href={`?${new URLSearchParams({ ...query, language }).toString()}`}
            hreflang={language}
            lang={language}
            rel="nofollow"
            {...(language === current && { "aria-current": "true" })}
          >
            {languageName(language)}
          </a>
        </>
      ))}
    </nav>
  );
}
