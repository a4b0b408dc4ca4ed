/** @jsxImportSource ./html */
import type { Identity, Page } from "../../http/page.ts";
import { memoize, once } from "../../lib/memoize.ts";
import { isRightToLeft, languageName, LANGUAGES, message } from "../../locales/messages.ts";
import { type Child, type Html, write } from "./html/jsx-runtime.ts";
import { Menu } from "./menu.tsx";

/** Asks which link to report. No code has a +. */
export const REPORT_PATH = "/+report";
/** Says which data about visitors Curt stores. */
export const PRIVACY_PATH = "/+privacy";

/** The links created in this browser. */
export const MY_LINKS_PATH = "/+links";

/** The links of colleagues, only where a proxy names people. */
export const ALL_PATH = "/+all";

/** Stands for the address of the form, which differs per domain. A noncharacter, as in {@link memoizePage}. */
export const FORM = "\uFDD2";

/** The metadata of a page. */
export interface Head {
  readonly title: string;
  /** For search engines and link previews in chats. Only for pages that should be found or shared. */
  readonly card?: { readonly description: string; readonly origin: string; readonly path: string };
  /** The address of a page that header or footer link to, unless its card has it. */
  readonly path?: string;
  /** Parameters to keep when the language changes. */
  readonly query?: Readonly<Record<string, string>>;
  /** More of them, as the visitor sent them. */
  readonly sent?: string;
  /** The operator's, in the header in place of what is for everybody. The languages are in the footer then. */
  readonly bar?: Html;
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
  { title, card, path = card?.path, query = {}, sent = "", bar }: Head,
  content: Html,
  identity: Identity,
): string {
  const { name, assets, formPath, hasPeople } = identity;
  // Colleagues find reports in the footer.
  const first = hasPeople ? ALL_PATH : REPORT_PATH;
  const languages =
    Object.keys(query).length === 0 && sent === "" ? (
      plainLanguages(language)
    ) : (
      <Languages current={language} query={query} sent={sent} />
    );
  const document = (
    <html lang={language} {...(isRightToLeft(language) && { dir: "rtl" })}>
      <head>
        {metadata()}
        <title>{`${title} – ${name}`}</title>
        {card !== undefined && <Card title={title} identity={identity} {...card} />}
        <link rel="stylesheet" href={assets.style.path} />
        {bar !== undefined && <link rel="stylesheet" href={assets.operatorStyle.path} />}
        <link rel="icon" href={assets.icon.path} type={assets.icon.type} />
        {assets.touchIcon && <link rel="apple-touch-icon" href={assets.touchIcon.path} />}
        <link rel="manifest" href={assets.manifest.path} />
        <link rel="search" href="/+search.xml" type="application/opensearchdescription+xml" title={name} />
        <script type="module" src={assets.script.path}></script>
        {path === MY_LINKS_PATH && <script type="module" src={assets.myLinks.path}></script>}
      </head>
      <body>
        <a class="skip" href="#content">
          {message(language, "page.skip")}
        </a>
        <header class="top">
          <a class="brand" href={FORM} {...markCurrent(path, FORM)}>
            <img src={assets.icon.path} width="28" height="28" alt="" />
            {name}
          </a>
          {bar ?? (
            <>
              <a href={first} rel="nofollow" {...markCurrent(path, first)}>
                {message(language, hasPeople ? "all.title" : "page.report.short")}
              </a>
              {languages}
              <a class="button" href={MY_LINKS_PATH} {...markCurrent(path, MY_LINKS_PATH)}>
                {message(language, "links.title")}
              </a>
            </>
          )}
        </header>
        <main id="content" tabindex={-1}>
          {content}
        </main>
        <Footer language={language} path={path} contact={identity.contact}>
          {bar !== undefined && languages}
        </Footer>
      </body>
    </html>
  );
  return `<!doctype html>${write(document).replaceAll(FORM, formPath)}`;
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
const plainLanguages = memoize((language) => <Languages current={language} query={{}} sent="" />);

interface FooterProps extends Pick<Identity, "contact"> {
  readonly language: string;
  readonly path: string | undefined;
  readonly children: Child;
}

/** Spaces between its links, for browsers without styles. */
function Footer({ language, path, contact, children }: FooterProps) {
  return (
    <footer class="bottom">
      <a href={REPORT_PATH} rel="nofollow" {...markCurrent(path, REPORT_PATH)}>
        {message(language, "page.report")}
      </a>{" "}
      {contact !== null && <Contact uri={contact} />}{" "}
      <a href={PRIVACY_PATH} {...markCurrent(path, PRIVACY_PATH)}>
        {message(language, "privacy.title")}
      </a>{" "}
      <a href="/docs" {...markCurrent(path, "/docs")}>
        {message(language, "page.reference")}
      </a>
      {children}
    </footer>
  );
}

function markCurrent(path: string | undefined, href: string) {
  return path === href && { "aria-current": "page" };
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

type LanguagesProps = { readonly current: string } & Required<Pick<Head, "query" | "sent">>;

function Languages({ current, query, sent }: LanguagesProps) {
  const title = message(current, "page.languages");
  return (
    <Menu
      id="languages"
      kind="quiet opens"
      label={title}
      sign={
        <>
          <span class="unseen">{title}</span> {languageName(current)}
        </>
      }
    >
      {LANGUAGES.map((language) => (
        <a
          href={`?${sent === "" ? "" : `${sent}&`}${new URLSearchParams({ ...query, language }).toString()}`}
          hreflang={language}
          lang={language}
          rel="nofollow"
          {...(language === current && { "aria-current": "true" })}
        >
          {languageName(language)}
        </a>
      ))}
    </Menu>
  );
}
