/** @jsxImportSource ./html */
import type { Identity, Page } from "../../http/page.ts";
import { memoize, once } from "../../lib/memoize.ts";
import { isRightToLeft, languageName, LANGUAGES, message } from "../../locales/messages.ts";
import { type Html, write } from "./html/jsx-runtime.ts";

/** Asks which link to report. No code has a +. */
export const REPORT_PATH = "/+report";
/** Says which data about visitors Curt stores. */
export const PRIVACY_PATH = "/+privacy";

/** The links created in this browser. */
export const MY_LINKS_PATH = "/+links";

/** The metadata of a page. */
export interface Head {
  readonly title: string;
  /** For search engines and link previews in chats. Only for pages that should be found or shared. */
  readonly card?: { readonly description: string; readonly origin: string; readonly path: string };
  /** Parameters to keep when the language changes. */
  readonly query?: Readonly<Record<string, string>>;
  /** A script of its own, besides the common one. */
  readonly script?: "myLinks";
}

/** Renders a page. Its language links assume that `?language=` works at the page's address. */
export function page(language: string, head: Head, content: Html): Page {
  // Memoized pages are rendered once per service.
  let memo: { readonly identity: Identity; readonly text: string } | undefined;
  return (identity) => {
    if (memo?.identity !== identity) memo = { identity, text: render(language, head, content, identity) };
    return memo.text;
  };
}

function render(
  language: string,
  { title, card, query = {}, script }: Head,
  content: Html,
  identity: Identity,
): string {
  const { name, assets } = identity;
  const document = (
    <html lang={language} {...(isRightToLeft(language) && { dir: "rtl" })}>
      <head>
        {metadata()}
        <title>{`${title} – ${name}`}</title>
        {card !== undefined && <Card title={title} identity={identity} {...card} />}
        <link rel="stylesheet" href={assets.style.path} />
        <link rel="icon" href={assets.icon.path} type={assets.icon.type} />
        {assets.touchIcon && <link rel="apple-touch-icon" href={assets.touchIcon.path} />}
        <link rel="manifest" href={assets.manifest.path} />
        <script type="module" src={assets.script.path}></script>
        {script !== undefined && <script type="module" src={assets[script].path}></script>}
      </head>
      <body>
        <a class="skip" href="#content">
          {message(language, "page.skip")}
        </a>
        <header class="top">
          <a class="brand" href="/">
            <img src={assets.icon.path} width="28" height="28" alt="" />
            {name}
          </a>
          <a href={MY_LINKS_PATH}>{message(language, "links.title")}</a>
          {Object.keys(query).length === 0 ? (
            plainLanguages(language)
          ) : (
            <Languages current={language} query={query} />
          )}
        </header>
        <main id="content" tabindex={-1}>
          {content}
        </main>
        <Footer language={language} contact={identity.contact} />
      </body>
    </html>
  );
  return `<!doctype html>${write(document)}`;
}

// The same on every page.
const metadata = once(() => (
  <>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="theme-color" content="#fbfaf7" media="(prefers-color-scheme: light)" />
    <meta name="theme-color" content="#171614" media="(prefers-color-scheme: dark)" />
  </>
));
const plainLanguages = memoize((language) => <Languages current={language} query={{}} />);

function Footer({ language, contact }: { language: string } & Pick<Identity, "contact">) {
  return (
    <footer class="bottom">
      <a href={REPORT_PATH} rel="nofollow">
        {message(language, "page.report")}
      </a>
      {contact !== null && <Contact uri={contact} />}
      <a href={PRIVACY_PATH}>{message(language, "privacy.title")}</a>
      <a href="/docs">{message(language, "page.reference")}</a>
    </footer>
  );
}

/** The address is visible, because mailto: links don't work for every reader. */
function Contact({ uri }: { uri: string }) {
  const [, address] = /^mailto:([^?]+)/.exec(uri) ?? [];
  return (
    <a href={uri}>
      <bdi dir="ltr">{address ?? uri.replace("https://", "")}</bdi>
    </a>
  );
}

type CardProps = Required<Head>["card"] & { readonly title: string; readonly identity: Identity };

/** The Open Graph protocol. */
function Card({ title, description, origin, path, identity: { name, assets } }: CardProps) {
  return (
    <>
      <meta name="description" content={description} />
      <meta property="og:type" content="website" />
      <meta property="og:site_name" content={name} />
      <meta property="og:title" content={title} />
      <meta property="og:description" content={description} />
      <meta property="og:url" content={origin + path} />
      {assets.largeIcon && <meta property="og:image" content={origin + assets.largeIcon.path} />}
    </>
  );
}

/** On a phone, in a menu. */
function Languages(props: { current: string } & Required<Pick<Head, "query">>) {
  return (
    <>
      <LanguageLinks {...props} />
      <details class="menu">
        <summary>
          <span class="unseen">{message(props.current, "page.languages")}</span>
          {languageName(props.current)}
        </summary>
        <LanguageLinks {...props} />
      </details>
    </>
  );
}

function LanguageLinks({ current, query }: { current: string } & Required<Pick<Head, "query">>) {
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
