/** @jsxImportSource hono/jsx */
import type { Child } from "hono/jsx";

import { message } from "../language/messages.ts";

interface CopyButtonProps {
  readonly language: string;
  readonly kind: "primary" | "plain";
  /** What stands before the button, where it is not given. */
  readonly text?: string;
  /** Other buttons. */
  readonly children?: Child;
}

/** Scripts show it; what they have to say goes behind it and the other buttons, which need not move. */
export function CopyButton({ language, kind, text = "", children }: CopyButtonProps) {
  const answers = {
    "data-done": message(language, "copied"),
    "data-failed": message(language, "copy.failed"),
  };
  return (
    <>
      <button type="button" class={kind} data-copy={text} {...answers} hidden>
        {message(language, "copy")}
      </button>
      {children} <output></output>
    </>
  );
}
