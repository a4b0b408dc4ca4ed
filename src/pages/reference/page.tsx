/** @jsxImportSource ../shared/html */
import type { ApiViewParts } from "../../api/api-parts.ts";
import { type ApiDescription, operationsByGroup } from "../../api/openapi/description.ts";
import { getDocument } from "../../api/openapi/document.ts";
import type { DetachedCall } from "../../http/call.ts";
import { memoizeByDomain } from "../../http/domain.ts";
import { addressPath, viewEndpoint } from "../../http/endpoint.ts";
import type { Page } from "../../http/page.ts";
import { FINDABLE, html } from "../../http/responses.ts";
import { message } from "../../locales/messages.ts";
import { VERBATIM } from "../shared/form-fields.tsx";
import { page } from "../shared/layout.tsx";
import { type ClientLimits, Failures, FAILURES, GUIDE, Guide } from "./guide.tsx";
import { OperationSection } from "./operation.tsx";
import type { Context } from "./reference-parts.tsx";

/** The developers' page, which search engines may list. */
export const showReference = viewEndpoint({
  at: "GET /docs",
  cost: "work",
  view: { render: renderReference },
});

function renderReference(parts: ClientLimits & Pick<ApiViewParts, "describe">) {
  const render = memoizeByDomain((domain, language) =>
    referencePage(language, {
      api: parts.describe(domain, language),
      documentPath: addressPath(getDocument.at),
      limits: parts,
    }),
  );
  return (call: DetachedCall): Response =>
    html(call, 200, (language) => render(call.domain, language), FINDABLE);
}

interface Reference {
  readonly api: ApiDescription;
  readonly documentPath: string;
  readonly limits: ClientLimits;
}

/** The guide and all operations of the OpenAPI document, with forms to try them. */
function referencePage(language: string, { api, documentPath, limits }: Reference): Page {
  const base = api.servers[0]?.url ?? "";
  const say: Context["say"] = (key, values) => message(language, key, values);
  const context = { language, api, base, say };
  const title = say("docs.title");
  const description = say("docs.intro", { base });
  return page(
    language,
    {
      title: title,
      card: { description, origin: base, path: "/docs" },
    },
    <>
      <h1>{title}</h1>
      <p class="lead">{description}</p>
      <div class="reference wide">
        <Contents context={context} />
        <div>
          <Guide context={context} documentPath={documentPath} />
          {operationsByGroup(api).map(([group, operations]) => (
            <>
              <h2>{say(`docs.group.${group}`)}</h2>
              {operations.map((operation) => (
                <OperationSection context={context} operation={operation} />
              ))}
            </>
          ))}
          <Failures context={context} limits={limits} />
        </div>
      </div>
    </>,
  );
}

type Entry = readonly [id: string, name: string, method?: string];

/** The index, closed where it comes above the rest, and the search of the page, which the script shows. */
function Contents({ context: { api, say } }: { context: Context }) {
  const guide = (parts: typeof GUIDE | typeof FAILURES) =>
    Object.entries(parts).map(([id, key]): Entry => [id, say(key)]);
  const lists: (readonly [title: string | undefined, Entry[]])[] = [
    [undefined, guide(GUIDE)],
    ...operationsByGroup(api).map(
      ([group, operations]) =>
        [
          say(`docs.group.${group}`),
          operations.map(({ operationId, summary, method }): Entry => [operationId, summary, method]),
        ] as const,
    ),
    [undefined, guide(FAILURES)],
  ];
  return (
    // On a desk it scrolls, which keys can do only in an element that takes the focus.
    <nav class="contents" aria-label={say("docs.contents")} tabindex={0}>
      <search hidden>
        <label for="search">{say("docs.search")}</label>
        <input id="search" type="search" placeholder=" " {...VERBATIM} />
        <output class="hint" data-found={say("links.found")}></output>
      </search>
      <details>
        <summary>{say("docs.contents")}</summary>
        {lists.map(([title, entries]) => (
          <>
            {title !== undefined && <p>{title}</p>}
            <ul>
              {entries.map(([id, name, method]) => (
                <li>
                  <a href={`#${id}`}>{name}</a> {method !== undefined && <code>{method}</code>}
                </li>
              ))}
            </ul>
          </>
        ))}
      </details>
    </nav>
  );
}
