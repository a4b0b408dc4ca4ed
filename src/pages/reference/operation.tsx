/** @jsxImportSource ../shared/html */
import {
  type Answer,
  answerOf,
  type ApiDescription,
  dereference,
  EXPLAINED_ONCE,
  exampleOf,
  type Field,
  fieldsOf,
  isRedirect,
  type Operation,
  type Parameter,
  type Schema,
  takes,
  typeOf,
} from "../../api/openapi/description.ts";
import { VERBATIM } from "../shared/form-fields.tsx";
import type { Child } from "../shared/html/jsx-runtime.ts";
import { Code, type Context, Endpoint, withCode, Part, pretty, Tabs } from "./reference-parts.tsx";
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
          <h4>{say("docs.parameters")}</h4>
          <AskedFields context={context} fields={parameters.map(asField)} />
        </>
      )}
      {body !== undefined && (
        <>
          <h4>{say("docs.body")}</h4>
          <AskedFields context={context} fields={fieldsOf(body)} />
        </>
      )}
    </Part>
  );
}

function Examples({ context, operation }: { context: Context; operation: Operation }) {
  const { language, api, base, say } = context;
  const { operationId, summary } = operation;
  const nameOf = (name: string) => say("docs.sample", { name, summary });
  const answer = exampleOf(api, dereference(api, answerOf(operation).schema));
  return (
    <>
      <Tabs language={language} id={operationId} samples={samplesOf(base, operation)} nameOf={nameOf} />
      <Answers context={context} operation={operation} />
      {answer !== undefined && (
        <details class="code">
          <summary>{say("docs.answer.example")}</summary>
          <Code language={language} name={nameOf(say("docs.answer.example"))}>
            {pretty(answer)}
          </Code>
        </details>
      )}
    </>
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

/** With more optional fields than this, they are folded. */
const SHOWN_OPTIONAL = 2;

/** Fields that the caller sends. Beside required ones, a few optional ones are in sight. */
function AskedFields({ context, fields }: { context: Context; fields: readonly Field[] }) {
  const optional = fields.filter(({ required }) => !required);
  const required = fields.filter((field) => field.required);
  if (optional.length <= (required.length && SHOWN_OPTIONAL))
    return <Fields context={context} fields={fields} isAsked />;
  return (
    <>
      {required.length > 0 && <Fields context={context} fields={required} isAsked />}
      <details>
        <summary class="optional">
          {context.say("docs.optional")}: {codes(optional.flatMap(({ names }) => names))}
        </summary>
        <Fields context={context} fields={optional} isAsked />
      </details>
    </>
  );
}

function codes(values: readonly unknown[]): Child {
  return values.map((value, index) => [index > 0 && ", ", <code>{String(value)}</code>]);
}

/** `isAsked` adds requirements, limits and defaults. */
function Fields(props: { context: Context; fields: readonly Field[]; isAsked?: boolean }) {
  const { context, fields, isAsked = false } = props;
  const { api } = context;
  return (
    <dl class="fields">
      {fields.map((field) => {
        const { items, ...rest } = dereference(api, field.schema);
        const within = fieldsOf(dereference(api, items ?? rest));
        return (
          <>
            <dt>{codes(field.names)}</dt>
            <dd>
              <p class="soft">
                {typeOf(api, field.schema)}
                {isAsked && constraintsOf(context, field, rest).map((one) => [" · ", one])}
              </p>
              {field.description !== undefined && <p>{withCode(field.description)}</p>}
              {within.length > 0 && <Fields context={context} fields={within} />}
            </dd>
          </>
        );
      })}
    </dl>
  );
}

function constraintsOf({ say }: Context, { required }: Field, schema: Schema): Child[] {
  const {
    "x-max-length": max,
    minimum = "",
    maximum,
    enum: values = [],
    default: fallback,
    example,
  } = schema;
  return [
    say(required ? "docs.required" : "docs.optional"),
    ...(max === undefined ? [] : [say("docs.max", { max: max.toLocaleString("en") })]),
    ...(maximum === undefined ? [] : [`${minimum}–${maximum}`]),
    ...(values.length === 0 ? [] : [[say("docs.values"), " ", codes(values)]]),
    ...(fallback === undefined ? [] : [[say("docs.default"), " ", codes([fallback])]]),
    ...(example === undefined || values.length > 0 ? [] : [[say("docs.example"), " ", codes([example])]]),
  ];
}

/** The first response is the successful one; the others are folded. */
function Answers({ context, operation }: { context: Context; operation: Operation }) {
  const { api, say } = context;
  const [first, ...others] = Object.entries(operation.responses);
  const schema = dereference(api, answerOf(operation).schema);
  const data = fieldsOf(dereference(api, schema.properties?.["data"] ?? {}));
  return (
    <div>
      <h4>{say("docs.answers")}</h4>
      <AnswerList answers={first === undefined ? [] : [first]} />
      {data.length > 0 && (
        <details>
          <summary>{withCode(say("docs.answer.fields"))}</summary>
          <Fields context={context} fields={data} />
        </details>
      )}
      <details>
        <summary>{others.map(([status]) => status).join(", ")}</summary>
        <AnswerList answers={others} />
      </details>
    </div>
  );
}

function AnswerList({ answers }: { answers: readonly [string, Answer][] }) {
  return (
    <dl class="named">
      {answers.map(([status, { description, headers = {}, content = {} }]) => (
        <>
          <dt>{status}</dt>
          <dd>
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
          </dd>
        </>
      ))}
    </dl>
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
