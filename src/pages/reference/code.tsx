/** @jsxImportSource ../shared/html */
import { CopyButton } from "../shared/copy-button.tsx";
import type { Child } from "../shared/html/jsx-runtime.ts";

interface CodeProps {
  readonly language: string;
  /** For screen readers, because wide code scrolls and so takes the focus. */
  readonly name: string;
  /** The name of a sample. */
  readonly sample?: string;
  readonly children: string;
}

/** Code with a button to copy it. What stands before it in a box of class `code` has the button at its right. */
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

/** Code below what it is. */
export function CodeBox({ caption, ...code }: CodeProps & { readonly caption: string }) {
  return (
    <div class="code">
      <p class="caption">{caption}</p>
      <Code {...code} />
    </div>
  );
}

/** Turns `text in backticks` into code elements. */
export function marked(text: string): Child {
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
