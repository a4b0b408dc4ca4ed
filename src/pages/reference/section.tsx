/** @jsxImportSource ../shared/html */
import type { MessageKey, Values } from "../../locales/messages.ts";
import type { Child } from "../shared/html/jsx-runtime.ts";
import type { ApiDescription } from "./openapi.ts";

/** What all parts of the reference need. */
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
  /** What stands beside the text where there is room, and below it elsewhere. */
  readonly side?: Child;
  readonly children?: Child;
}

/** A part of the reference, which the index leads to. */
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
