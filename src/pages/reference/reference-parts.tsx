/** @jsxImportSource ../shared/html */
import type { ApiDescription } from "../../api/openapi/description.ts";
import type { MessageKey, Values } from "../../locales/messages.ts";
import type { Child } from "../shared/html/jsx-runtime.ts";
import { CopyButton } from "../shared/share.tsx";

export interface Context {
  readonly language: string;
  readonly api: ApiDescription;
  readonly base: string;
  readonly say: (key: MessageKey, values?: Values) => string;
}

interface PartProps {
  readonly id: string;
  readonly title: string;
  /** Operations have a smaller title, below that of their group. */
  readonly kind: "guide" | "operation";
  /** Beside the text on wide screens, below it on others. */
  readonly side?: Child;
  readonly children?: Child;
}

/** A part of the reference, with an entry in the index. */
export function Part({ id, title, kind, side, children }: PartProps) {
  const Title = kind === "guide" ? "h2" : "h3";
  return (
    <section id={id} class={`${kind} part`} aria-labelledby={`${id}-title`}>
      <div>
        <Title id={`${id}-title`}>
          <a href={`#${id}`}>{title}</a>
        </Title>
        {children}
      </div>
      {side !== undefined && <div class="side">{side}</div>}
    </section>
  );
}

interface CodeProps {
  readonly language: string;
  /** For screen readers. */
  readonly name: string;
  readonly sample?: string;
  readonly children: string;
}

/** Code with a button to copy it. In a box of class `code`, the button is at the right of the caption. */
export function Code({ language, name, sample, children }: CodeProps) {
  return (
    <>
      <pre role="group" aria-label={name} data-sample={sample}>
        {coloured(children)}
      </pre>
      <CopyButton language={language} kind="quiet" />
    </>
  );
}

/** Names (keys, keywords, options) or texts, in every language of the samples. Only texts end in a quotation mark. */
const TOKEN =
  /("(?:\\.|[^"\\])*":?|'[^'"\n]*'|(?<=\s)-\w\b|\b(?:as|await|class|const|def|except|export|from|import|print|return|try)\b)/;

function coloured(code: string): Child {
  return code
    .split(TOKEN)
    .map((part, index) =>
      index % 2 === 0 ? part : <span class={/["']$/.test(part) ? "text" : "name"}>{part}</span>,
    );
}

interface TabsProps {
  readonly language: string;
  /** Unique on the page. */
  readonly id: string;
  readonly samples: Readonly<Record<string, string>>;
  readonly nameOf: (sample: string) => string;
}

/** Samples side by side, one of them in sight. Without `::details-content`, they unfold below each other. */
export function Tabs({ language, id, samples, nameOf }: TabsProps) {
  return (
    <div class="tabs">
      {Object.entries(samples).map(([sample, code], index) => (
        <details class="code" name={`${id}-samples`} open={index === 0}>
          <summary>{sample}</summary>
          <Code language={language} name={nameOf(sample)} sample={sample}>
            {code}
          </Code>
        </details>
      ))}
    </div>
  );
}

/** Turns `text in backticks` into code elements. */
export function withCode(text: string): Child {
  return text.split("`").map((part, index) => (index % 2 === 1 ? <code>{part}</code> : part));
}

export function pretty(value: unknown): string {
  return JSON.stringify(value ?? null, null, 2);
}

export function Endpoint({ method, path }: { method: string; path: string }) {
  return (
    <code>
      <strong>{method}</strong> {path}
    </code>
  );
}
