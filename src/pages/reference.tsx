/** @jsxImportSource hono/jsx */
import type { Child } from "hono/jsx";

import { languageNames, type MessageKey, message, type Values } from "../language/language.ts";
import { CopyButton } from "./copy.tsx";
import { page } from "./layout.tsx";
import {
  answerOf,
  type ApiDescription,
  exampleOf,
  type Field,
  fieldsOf,
  type Operation,
  operationsOf,
  type Parameter,
  dereference,
  type Schema,
  typeOf,
} from "./openapi.ts";
import { bodyOf, samplesOf, valueOf } from "./samples.ts";

/** What a part of the page needs to know of the whole. */
interface Context {
  readonly language: string;
  readonly api: ApiDescription;
  readonly base: string;
  readonly say: (key: MessageKey, values?: Values) => string;
}

/** The developers' page: the OpenAPI document, which is in the same language, for people to read and to try. */
export function referencePage(language: string, api: ApiDescription, documentPath: string): string {
  const base = api.servers[0]?.url ?? "";
  const say: Context["say"] = (key, values) => message(language, key, values);
  const context = { language, api, base, say };
  const title = say("docs.title");
  const description = say("docs.intro", { base });
  const operations = operationsOf(api);
  return page(
    language,
    {
      title: `${title} · Curt`,
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

function Endpoint({ method, path }: { method: string; path: string }) {
  return (
    <code>
      <b>{method}</b> {path}
    </code>
  );
}

function Basics({ context, documentPath }: { context: Context; documentPath: string }) {
  const { language, api, base, say } = context;
  const languages = languageNames(language);
  const { ShortLink = {}, Problem = {} } = api.components.schemas;
  const success = { status: "success", message: say("shortened"), data: exampleOf(api, ShortLink) };
  return (
    <section aria-labelledby="basics">
      <h2 id="basics">{say("docs.basics")}</h2>
      <dl class="fields">
        <Fact name={say("docs.base")}>
          <code>{base}</code>
        </Fact>
        <Fact name={say("docs.key")}>{say("docs.key.none")}</Fact>
        <Fact name={say("docs.languages")}>{marked(say("docs.languages.rule", { languages }))}</Fact>
        <Fact name={say("docs.cors")}>{marked(say("docs.cors.rule"))}</Fact>
        <Fact name={say("docs.machine")}>
          {say("docs.machine.rule")} <a href={documentPath}>{documentPath}</a>
        </Fact>
        <Fact name={say("docs.success")}>
          {marked(say("docs.envelope"))}
          <Code name={say("docs.success")}>{pretty(success)}</Code>
        </Fact>
        <Fact name={say("docs.error")}>
          {marked(say("docs.error.rule"))}
          <Code name={say("docs.error")}>{pretty(exampleOf(api, Problem))}</Code>
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

function OperationSection({ context, operation }: { context: Context; operation: Operation }) {
  const { api, base, say } = context;
  const { operationId, method, path, summary, description, parameters = [], requestBody } = operation;
  const body = requestBody && dereference(api, requestBody.content["application/json"]?.schema ?? {});
  return (
    <section id={operationId} class="operation" aria-labelledby={`${operationId}-title`}>
      <h2 id={`${operationId}-title`}>{summary}</h2>
      <p>
        <Endpoint method={method} path={path} />
      </p>
      {description !== undefined && <p>{marked(description)}</p>}
      {parameters.length > 0 && (
        <>
          <h3>{say("docs.parameters")}</h3>
          <Fields context={context} fields={parameters.map(asField)} isAsked />
        </>
      )}
      {body !== undefined && (
        <>
          <h3>{say("docs.body")}</h3>
          <Fields context={context} fields={fieldsOf(body)} isAsked />
        </>
      )}
      <h3>{say("docs.samples")}</h3>
      {Object.entries(samplesOf(base, operation)).map(([name, code], index) => (
        <details open={index === 0}>
          <summary>{name}</summary>
          <Code name={say("docs.sample", { name, summary })} sample={name}>
            {code}
          </Code>
          <CopyButton language={context.language} kind="plain" />
        </details>
      ))}
      <Answers context={context} operation={operation} />
      <TryIt context={context} operation={operation} />
    </section>
  );
}

function asField({ name, ...rest }: Parameter): Field {
  return { names: [name], ...rest };
}

/** `isAsked`: it is for the caller to send, so that limits and defaults matter. */
function Fields(props: { context: Context; fields: readonly Field[]; isAsked?: boolean }) {
  const { context, fields, isAsked = false } = props;
  const { api, say } = context;
  return (
    <dl class="fields">
      {fields.map(({ names, required, description, schema }) => {
        const { items, ...rest } = dereference(api, schema);
        const within = fieldsOf(dereference(api, items ?? rest));
        return (
          <>
            <dt>
              {names.map((name, index) => (
                <>
                  {index > 0 && ", "}
                  <code>{name}</code>
                </>
              ))}{" "}
              <span class="soft">
                {typeOf(api, schema)}
                {isAsked && ` · ${say(required ? "docs.required" : "docs.optional")}`}
                {isAsked &&
                  schema.maxLength !== undefined &&
                  ` · ${say("docs.max", { max: schema.maxLength.toLocaleString("en") })}`}
                {isAsked && schema.maximum !== undefined && ` · ${schema.minimum ?? ""}–${schema.maximum}`}
              </span>
            </dt>
            <dd>
              {description !== undefined && <p>{marked(description)}</p>}
              {isAsked && <Values context={context} schema={schema} />}
              {within.length > 0 && <Fields context={context} fields={within} />}
            </dd>
          </>
        );
      })}
    </dl>
  );
}

function Values({ context: { say }, schema }: { context: Context; schema: Schema }) {
  const values = schema.enum?.filter((value) => value !== null) ?? [];
  const facts: [MessageKey, readonly unknown[]][] = [
    ["docs.values", values],
    ["docs.default", schema.default === undefined ? [] : [schema.default]],
    ["docs.example", schema.example === undefined ? [] : [schema.example]],
  ];
  return (
    <>
      {facts
        .filter(([, told]) => told.length > 0)
        .map(([key, told]) => (
          <p class="soft">
            {say(key)}
            {told.map((value) => (
              <>
                {" "}
                <code>{String(value)}</code>
              </>
            ))}
          </p>
        ))}
    </>
  );
}

function Answers({ context, operation }: { context: Context; operation: Operation }) {
  const { api, say } = context;
  const answers = Object.entries(operation.responses);
  const { schema } = answerOf(operation);
  const example = exampleOf(api, schema);
  const data = fieldsOf(dereference(api, schema.properties?.["data"] ?? {}));
  return (
    <>
      <h3>{say("docs.answers")}</h3>
      <table>
        <thead>
          <tr>
            <th scope="col">{say("docs.status")}</th>
            <th scope="col">{say("docs.meaning")}</th>
          </tr>
        </thead>
        <tbody>
          {answers.map(([status, { description, headers = {}, content }]) => (
            <tr>
              <th scope="row">{status}</th>
              <td>
                {marked(description)}
                {Object.keys(content)
                  .filter((type) => type !== "application/json")
                  .map((type) => (
                    <div class="soft">
                      <code>{type}</code>
                    </div>
                  ))}
                {Object.entries(headers).map(([name, header]) => (
                  <div class="soft">
                    <code>{name}</code>: {marked(header.description)}
                  </div>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {data.length > 0 && (
        <details>
          <summary>{marked(say("docs.answer.fields"))}</summary>
          <Fields context={context} fields={data} />
        </details>
      )}
      {example !== undefined && (
        <details open>
          <summary>{say("docs.answer.example")}</summary>
          <Code name={say("docs.sample", { name: say("docs.answer.example"), summary: operation.summary })}>
            {pretty(example)}
          </Code>
        </details>
      )}
    </>
  );
}

/** Hidden until the script that makes it work has come. */
function TryIt({ context: { say }, operation }: { context: Context; operation: Operation }) {
  const { operationId, method, path, summary, parameters = [] } = operation;
  const example = bodyOf(operation);
  const body = example === undefined ? undefined : pretty(example);
  return (
    <details class="try card" hidden>
      <summary>{say("docs.try")}</summary>
      <form data-method={method} data-path={path} data-failure={say("docs.try.failed")}>
        {parameters.map((parameter) => {
          const { name, in: place, schema } = parameter;
          const id = `${operationId}-${name}`;
          return (
            <div class="field">
              <label for={id}>
                <code>{name}</code>
              </label>
              <input
                id={id}
                name={name}
                data-in={place}
                value={valueOf(parameter)}
                placeholder={String(schema.example ?? schema.default ?? "")}
                autocomplete="off"
                autocapitalize="none"
                spellcheck={false}
              />
            </div>
          );
        })}
        {body !== undefined && (
          <div class="field">
            <label for={`${operationId}-body`}>{say("docs.try.body")}</label>
            <textarea
              id={`${operationId}-body`}
              name="body"
              rows={body.split("\n").length + 1}
              spellcheck={false}
            >
              {body}
            </textarea>
          </div>
        )}
        {method === "POST" && <p class="hint">{say("docs.try.real")}</p>}
        <button class="primary">{say("docs.try.send")}</button>
        <output aria-live="polite" aria-label={say("docs.try.answer", { summary })} tabindex={0} hidden />
      </form>
    </details>
  );
}

/** Scrolls inside its box where it is wide, so a keyboard must reach it, and know what it reached. */
function Code({ name, sample, children }: { name: string; sample?: string; children: string }) {
  return (
    <pre tabindex={0} role="group" aria-label={name} data-sample={sample}>
      {children}
    </pre>
  );
}

/** What stands in backticks is code. */
function marked(text: string): Child {
  return text.split("`").map((part, index) => (index % 2 === 1 ? <code>{part}</code> : part));
}

function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
