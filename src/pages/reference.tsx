/** @jsxImportSource ./html */
import { languageNames, message } from "../language/messages.ts";
import type { Child } from "./html/jsx-runtime.ts";
import { type Page, page } from "./layout.tsx";
import { type ApiDescription, exampleOf, needs, operationsOf } from "./openapi.ts";
import { Code, type Context, Endpoint, marked, OperationSection, pretty } from "./operation.tsx";

/** The developers' page. It shows the OpenAPI document, which is in the same language, with forms to try the API. */
export function referencePage(language: string, api: ApiDescription, documentPath: string): Page {
  const base = api.servers[0]?.url ?? "";
  const say: Context["say"] = (key, values) => message(language, key, values);
  const context = { language, api, base, say };
  const title = say("docs.title");
  const description = say("docs.intro", { base });
  const operations = operationsOf(api);
  return page(
    language,
    {
      title: title,
      card: { description, origin: base, path: "/docs" },
    },
    <div class="reference">
      <h1>{title}</h1>
      <p>{description}</p>
      <nav aria-label={say("docs.contents")}>
        <ul>
          {operations.map(({ operationId, method, summary, path }) => (
            <li>
              <a href={`#${operationId}`}>{summary}</a>{" "}
              <span class="soft">
                <Endpoint method={method} path={path} />
              </span>
            </li>
          ))}
        </ul>
      </nav>
      <Basics context={context} documentPath={documentPath} />
      {operations.map((operation) => (
        <OperationSection context={context} operation={operation} />
      ))}
    </div>,
  );
}

function Basics({ context, documentPath }: { context: Context; documentPath: string }) {
  const { language, api, base, say } = context;
  const languages = languageNames(language);
  const needsToken = operationsOf(api).some((operation) => needs(operation, "token"));
  const { ShortenResponse = {}, Problem = {}, ProblemReason = {} } = api.components.schemas;
  return (
    <section aria-labelledby="basics">
      <h2 id="basics">{say("docs.basics")}</h2>
      <dl class="fields">
        <Fact name={say("docs.base")}>
          <code>{base}</code>
        </Fact>
        <Fact name={say("docs.key")}>{marked(say(needsToken ? "docs.key.token" : "docs.key.none"))}</Fact>
        <Fact name={say("docs.languages")}>{marked(say("docs.languages.rule", { languages }))}</Fact>
        <Fact name={say("docs.cors")}>{marked(say("docs.cors.rule"))}</Fact>
        <Fact name={say("docs.machine")}>
          {say("docs.machine.rule")} <a href={documentPath}>{documentPath}</a>
        </Fact>
        <Fact name={say("docs.success")}>
          {marked(say("docs.envelope"))}
          <Code name={say("docs.success")}>{pretty(exampleOf(api, ShortenResponse))}</Code>
        </Fact>
        <Fact name={say("docs.error")}>
          {marked(say("docs.error.rule"))}
          <Code name={say("docs.error")}>{pretty(exampleOf(api, Problem))}</Code>
          <details>
            <summary>{marked(say("docs.reasons"))}</summary>
            <p>{marked(say("api.reasons"))}</p>
            <p>
              {(ProblemReason.enum ?? []).map((reason) => (
                <>
                  <code>{String(reason)}</code>{" "}
                </>
              ))}
            </p>
          </details>
        </Fact>
      </dl>
    </section>
  );
}

function Fact({ name, children }: { name: string; children?: Child }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}
