/** @jsxImportSource hono/jsx */
import type { Child } from "hono/jsx";
import type { HtmlEscapedString } from "hono/utils/html";

const STYLE = `
:root { color-scheme: light dark; --ink: #1c1b19; --soft: #5d5a55; --paper: #fbfaf7; --line: #dedad2; --mark: #0b6e4f; }
@media (prefers-color-scheme: dark) { :root { --ink: #edeae4; --soft: #aaa59c; --paper: #191816; --line: #3a3834; --mark: #5cc9a1; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: flex; flex-direction: column; background: var(--paper); color: var(--ink);
  font: 1.0625rem/1.6 system-ui, "Apple SD Gothic Neo", "Malgun Gothic", "Noto Sans KR", sans-serif; word-break: keep-all; overflow-wrap: anywhere; }
main { flex: 1; width: 100%; max-width: 40rem; margin: 0 auto; padding: 18vh 1.5rem 3rem; }
h1 { margin: 0 0 1rem; font-size: 1.75rem; line-height: 1.25; letter-spacing: -0.01em; }
h1::before { content: ""; display: block; width: 2.5rem; height: 0.25rem; margin-bottom: 1.25rem; background: var(--mark); }
p { margin: 0 0 1rem; }
p.next { color: var(--soft); }
pre { margin: 0 0 1.5rem; padding: 1rem; border: 1px solid var(--line); border-radius: 0.5rem; overflow-x: auto; font-size: 0.875rem; }
a { color: var(--mark); }
footer { padding: 1rem 1.5rem; text-align: center; color: var(--soft); font-size: 0.875rem; }
`;

/** What a Content-Security-Policy allows as the pages' only style. */
export const STYLE_SOURCE = `'sha256-${new Bun.CryptoHasher("sha256").update(STYLE).digest("base64")}'`;

export function page(language: string, title: string, content: Child): string {
  const document = (
    <html lang={language}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{title}</title>
        <style dangerouslySetInnerHTML={{ __html: STYLE }} />
      </head>
      <body>
        <main>
          <h1>{title}</h1>
          {content}
        </main>
        <footer>Curt</footer>
      </body>
    </html>
  );
  // Without an asynchronous component hono/jsx renders at once.
  return `<!doctype html>${(document as HtmlEscapedString).toString()}`;
}
