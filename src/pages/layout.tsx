/** @jsxImportSource hono/jsx */
import type { Child } from "hono/jsx";
import type { HtmlEscapedString } from "hono/utils/html";

import { languageName, LANGUAGES, message } from "../language/messages.ts";
import { assets } from "./assets/assets.ts";

/** The metadata of a page. */
export interface Head {
  readonly title: string;
  /** For search engines and link previews in chats. Only for pages that should be found or shared. */
  readonly card?: { readonly description: string; readonly origin: string; readonly path: string };
}

/** Renders a whole page. Its language links assume that `?language=` works at the page's address. */
export function page(language: string, { title, card }: Head, content: Child): string {
  const document = (
    <html lang={language}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="theme-color" content="#fbfaf7" media="(prefers-color-scheme: light)" />
        <meta name="theme-color" content="#171614" media="(prefers-color-scheme: dark)" />
        <title>{title}</title>
        {card !== undefined && <Card title={title} {...card} />}
        <link rel="stylesheet" href={assets.style.path} />
        <link rel="icon" href={assets.icon.path} type="image/svg+xml" />
        <link rel="apple-touch-icon" href={assets.touchIcon.path} />
        <link rel="manifest" href={assets.manifest.path} />
        <script type="module" src={assets.script.path}></script>
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
          <Languages current={language} />
        </header>
        <main id="content" tabindex={-1}>
          {content}
        </main>
      </body>
    </html>
  );
  // hono/jsx renders synchronously, since no component here is asynchronous.
  return `<!doctype html>${(document as HtmlEscapedString).toString()}`;
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

function Languages({ current }: { current: string }) {
  return (
    <nav aria-label={message(current, "page.languages")}>
      {LANGUAGES.map((language) => (
        <>
          {" "}
          <a
            href={`?language=${language}`}
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
