/** @jsxImportSource ../shared/html */
import type { MessageKey, Values } from "../../locales/messages.ts";
import type { Child } from "../shared/html/jsx-runtime.ts";
import { CopyButton } from "../shared/share.tsx";
import type { ApiDescription } from "./openapi.ts";

export interface Context {
  readonly language: string;
  readonly api: ApiDescription;
  readonly base: string;
  readonly say: (key: MessageKey, values?: Values) => string;
}

interface PartProps {
  readonly id: string;
  readonly title: string;
  readonly kind: "guide" | "operation";
  /** Beside the text on wide screens, below it on others. */
  readonly side?: Child;
  readonly children?: Child;
}

/** A part of the reference, with an entry in the index. */
export function Part({ id, title, kind, side, children }: PartProps) {
  return (
    <section id={id} class={`${kind} part`} aria-labelledby={`${id}-title`}>
      <div>
        <h2 id={`${id}-title`}>
          <a href={`#${id}`}>{title}</a>
        </h2>
        {children}
      </div>
      {side !== undefined && <div class="side">{side}</div>}
    </section>
  );
}

interface CodeProps {
  readonly language: string;
  /** For screen readers: wide code scrolls, so it takes the focus. */
  readonly name: string;
  readonly sample?: string;
  readonly children: string;
}

/** Code with a button to copy it, which is at the right of the caption in a box of class `code`. */
export function Code({ language, name, sample, children }: CodeProps) {
  return (
    <>
      <pre tabindex={0} role="group" aria-label={name} data-sample={sample}>
        {children}
      </pre>
      <CopyButton language={language} kind="plain" />
    </>
  );
}

export function CodeBox({ caption, ...code }: CodeProps & { readonly caption: string }) {
  return (
    <div class="code">
      <p class="caption">{caption}</p>
      <Code {...code} />
    </div>
  );
}

/** Turns `text in backticks` into code elements. */
export function withCode(text: string): Child {
  return text.split("`").map((part, index) => (index % 2 === 1 ? <code>{part}</code> : part));
}

export function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

export function Endpoint({ method, path }: { method: string; path: string }) {
  return (
    <code>
      <strong>{method}</strong> {path}
    </code>
  );
}
