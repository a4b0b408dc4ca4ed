/** @jsxImportSource hono/jsx */
import { message } from "../language/language.ts";
import { page } from "./layout.tsx";

/** The first page of a running service: how to make a link. */
export function homePage(language: string, endpoint: string): string {
  const command = `curl -X POST ${endpoint} \\\n  -H 'Content-Type: application/json' \\\n  -d '{"original_url": "https://example.com/"}'`;
  const title = message(language, "page.home.title");
  return page(
    language,
    { title },
    <>
      <h1>{title}</h1>
      <p>{message(language, "page.home.intro")}</p>
      <pre tabindex={0}>{command}</pre>
      <p class="soft">
        {message(language, "page.home.next")} <a href={endpoint}>{endpoint}</a>
      </p>
    </>,
  );
}
