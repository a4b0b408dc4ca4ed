/** @jsxImportSource ../shared/html */
import { memoize } from "../../lib/memoize.ts";
import { message } from "../../locales/messages.ts";
import { page } from "../shared/layout.tsx";

/** What crawlers get of a link with a limited number of visits. It is the same page for all links, so it is kept. */
export const countedPage = memoize((language) => {
  const title = message(language, "counted.title");
  return page(
    language,
    { title },
    <>
      <h1>{title}</h1>
      <p>{message(language, "counted.next")}</p>
    </>,
  );
});
