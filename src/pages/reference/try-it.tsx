/** @jsxImportSource ../shared/html */
import { pretty } from "./code.tsx";
import { type Operation, takes } from "./openapi.ts";
import { bodyOf, valueOf } from "./samples.ts";
import type { Context } from "./section.tsx";

/** A form that calls an operation. Hidden until the browser script has loaded, because it does not work without. */
export function TryIt({ context: { say }, operation }: { context: Context; operation: Operation }) {
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
                autocomplete="off"
                autocapitalize="none"
                spellcheck={false}
              />
            </div>
          );
        })}
        {takes(operation, "key") && (
          <div class="field">
            <label for={keyId}>{say("docs.try.key")}</label>
            <input
              id={keyId}
              name="key"
              data-in="authorization"
              autocomplete="off"
              autocapitalize="none"
              spellcheck={false}
            />
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

/** How many monospaced characters fit into a line of a field on a phone that is 360 pixels wide. */
const NARROWEST = 22;

/** The height of a field in rows, enough for `text` on a phone. For browsers without CSS `field-sizing`. */
function rowsOf(text: string): number {
  return text.split("\n").reduce((rows, line) => rows + Math.max(1, Math.ceil(line.length / NARROWEST)), 1);
}
