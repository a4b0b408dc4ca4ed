/** @jsxImportSource ../shared/html */
import type { MessageKey } from "../../locales/messages.ts";
import { VERBATIM } from "../shared/fields.tsx";
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
  takes,
  typeOf,
} from "./openapi.ts";
import { Code, type Context, Endpoint, withCode, Part, pretty } from "./parts.tsx";
import { bodyOf, samplesOf, valueOf } from "./samples.ts";

/** One operation of the API: its input, examples and responses, and a form to try it. */
export function OperationSection({ context, operation }: { context: Context; operation: Operation }) {
  const { api, say } = context;
  const { operationId, method, path, summary, description, parameters = [], requestBody } = operation;
  const body = requestBody && bodySchema(api, requestBody.content["application/json"]?.schema ?? {});
  const side = (
    <>
      <Examples context={context} operation={operation} />
      {/* Our Content-Security-Policy blocks redirects to another origin. */}
      {!isRedirect(operation) && <TryIt context={context} operation={operation} />}
    </>
  );
  return (
    <Part id={operationId} title={summary} kind="operation" side={side}>
      <p>
        <Endpoint method={method} path={path} />
      </p>
      {description !== undefined && <p>{withCode(description)}</p>}
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

/** Closed where they come below the text. */
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

/** The schema of the items, if the body is an array. */
function bodySchema(api: ApiDescription, schema: Schema): Schema {
  const { items, ...body } = dereference(api, schema);
  return items === undefined ? body : dereference(api, items);
}

function asField({ name, ...rest }: Parameter): Field {
  return { names: [name], ...rest };
}

/** `isAsked` shows requirements, limits and defaults, for fields that the caller sends. */
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
              {description !== undefined && <p>{withCode(description)}</p>}
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
        .filter(([, values]) => values.length > 0)
        .map(([key, values]) => (
          <p class="soft">
            {say(key)}
            {values.map((value) => (
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

/** The reference explains these once for all operations. */
const EXPLAINED_ONCE: readonly string[] = ["Curt-Reason", "Request-Id"];

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
                {withCode(description)}
                {Object.keys(content)
                  .filter((type) => type !== "application/json")
                  .map((type) => (
                    <div class="soft">
                      <code>{type}</code>
                    </div>
                  ))}
                {Object.entries(headers)
                  .filter(([name]) => !EXPLAINED_ONCE.includes(name))
                  .map(([name, header]) => (
                    <div class="soft">
                      <code>{name}</code>: {withCode(header.description)}
                    </div>
                  ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {data.length > 0 && (
        <details>
          <summary>{withCode(say("docs.answer.fields"))}</summary>
          <Fields context={context} fields={data} />
        </details>
      )}
    </>
  );
}

/** A form that calls an operation. Hidden until the browser script has loaded. */
function TryIt({ context: { say }, operation }: { context: Context; operation: Operation }) {
  const { operationId, method, path, summary, parameters = [] } = operation;
  const example = bodyOf(operation);
  const body = example === undefined ? undefined : pretty(example);
  const keyId = `${operationId}-key`;
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
                {...VERBATIM}
              />
            </div>
          );
        })}
        {takes(operation, "key") && (
          <div class="field">
            <label for={keyId}>{say("docs.try.key")}</label>
            <input id={keyId} name="key" data-in="authorization" {...VERBATIM} />
          </div>
        )}
        {body !== undefined && (
          <div class="field">
            <label for={`${operationId}-body`}>{say("docs.try.body")}</label>
            <textarea id={`${operationId}-body`} name="body" rows={rowsOf(body)} spellcheck={false}>
              {body}
            </textarea>
          </div>
        )}
        {method !== "GET" && <p class="hint">{say("docs.try.real")}</p>}
        <button class="primary">{say("docs.try.send")}</button>
        <output aria-live="polite" aria-label={say("docs.try.answer", { summary })} tabindex={0} hidden />
      </form>
    </details>
  );
}

/** Monospaced characters in a line of a field, on a phone that is 360 pixels wide. */
const NARROWEST = 22;

/** The rows that `text` needs on a phone, for browsers without CSS `field-sizing`. */
function rowsOf(text: string): number {
  return text.split("\n").reduce((rows, line) => rows + Math.max(1, Math.ceil(line.length / NARROWEST)), 1);
}
