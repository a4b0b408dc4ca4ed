/** @jsxImportSource ../shared/html */
import type { MessageKey } from "../../locales/messages.ts";
import { Code, Endpoint, marked, pretty } from "./code.tsx";
import {
  answerOf,
  type ApiDescription,
  dereference,
  exampleOf,
  type Field,
  fieldsOf,
  isRedirect,
  type Operation,
  type Parameter,
  type Schema,
  typeOf,
} from "./openapi.ts";
import { samplesOf } from "./samples.ts";
import { type Context, Part } from "./section.tsx";
import { TryIt } from "./try-it.tsx";

/** One operation of the API: what it takes, how to call it, what it answers, and a form to try it. */
export function OperationSection({ context, operation }: { context: Context; operation: Operation }) {
  const { api, say } = context;
  const { operationId, method, path, summary, description, parameters = [], requestBody } = operation;
  const body = requestBody && bodySchema(api, requestBody.content["application/json"]?.schema ?? {});
  const side = (
    <>
      <Examples context={context} operation={operation} />
      {/* Redirects cannot be tried: our Content-Security-Policy blocks requests that lead to another origin. */}
      {!isRedirect(operation) && <TryIt context={context} operation={operation} />}
    </>
  );
  return (
    <Part id={operationId} title={summary} kind="operation" side={side}>
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
      <Answers context={context} operation={operation} />
    </Part>
  );
}

/** Folded where they come below the text. */
function Examples({ context, operation }: { context: Context; operation: Operation }) {
  const { language, api, base, say } = context;
  const { summary } = operation;
  const name = (what: string) => say("docs.sample", { name: what, summary });
  const answer = exampleOf(api, dereference(api, answerOf(operation).schema));
  return (
    <details class="examples">
      <summary>{say("docs.samples")}</summary>
      {Object.entries(samplesOf(base, operation)).map(([sample, code], index) => (
        <details class="code" open={index === 0}>
          <summary>{sample}</summary>
          <Code language={language} name={name(sample)} sample={sample}>
            {code}
          </Code>
        </details>
      ))}
      {answer !== undefined && (
        <details class="code" open>
          <summary>{say("docs.answer.example")}</summary>
          <Code language={language} name={name(say("docs.answer.example"))}>
            {pretty(answer)}
          </Code>
        </details>
      )}
    </details>
  );
}

/** Of an array, the schema of its items. */
function bodySchema(api: ApiDescription, schema: Schema): Schema {
  const { items, ...body } = dereference(api, schema);
  return items === undefined ? body : dereference(api, items);
}

function asField({ name, ...rest }: Parameter): Field {
  return { names: [name], ...rest };
}

/** `isAsked`: the caller sends these fields, so show what is required, limits and defaults. */
function Fields(props: { context: Context; fields: readonly Field[]; isAsked?: boolean }) {
  const { context, fields, isAsked = false } = props;
  const { api, say } = context;
  return (
    <dl class="fields">
      {fields.map(({ names, required, description, schema }) => {
        const { items, ...rest } = dereference(api, schema);
        const within = fieldsOf(dereference(api, items ?? rest));
        const { "x-max-length": maxLength, minimum = "", maximum } = rest;
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
                  maxLength !== undefined &&
                  ` · ${say("docs.max", { max: maxLength.toLocaleString("en") })}`}
                {isAsked && maximum !== undefined && ` · ${minimum}–${maximum}`}
              </span>
            </dt>
            <dd>
              {description !== undefined && <p>{marked(description)}</p>}
              {isAsked && <Values context={context} schema={rest} />}
              {within.length > 0 && <Fields context={context} fields={within} />}
            </dd>
          </>
        );
      })}
    </dl>
  );
}

function Values({ context: { say }, schema }: { context: Context; schema: Schema }) {
  const facts: [MessageKey, readonly unknown[]][] = [
    ["docs.values", schema.enum ?? []],
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

/** The basics of the reference tell of it, once for all operations. */
const TOLD_ONCE: readonly string[] = ["Curt-Reason", "Request-Id"];

function Answers({ context, operation }: { context: Context; operation: Operation }) {
  const { api, say } = context;
  const answers = Object.entries(operation.responses);
  const schema = dereference(api, answerOf(operation).schema);
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
          {answers.map(([status, { description, headers = {}, content = {} }]) => (
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
                {Object.entries(headers)
                  .filter(([name]) => !TOLD_ONCE.includes(name))
                  .map(([name, header]) => (
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
    </>
  );
}
