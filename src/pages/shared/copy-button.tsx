/** @jsxImportSource ./html */
import { message, type MessageKey } from "../../locales/messages.ts";
import type { Child } from "./html/jsx-runtime.ts";

interface CopyButtonProps {
  readonly language: string;
  readonly kind: "primary" | "secondary" | "plain";
  /** Default: Copy. */
  readonly label?: MessageKey;
  /** The text to copy. Default: the text of the element before the button. */
  readonly text?: string;
  /** More buttons to show next to this one. */
  readonly children?: Child;
}

/** Hidden until the script shows it. The output comes after all buttons, so that they do not move when it appears. */
export function CopyButton({ language, kind, label = "copy", text = "", children }: CopyButtonProps) {
  const answers = {
    "data-done": message(language, "copied"),
    "data-failed": message(language, "copy.failed"),
  };
  return (
    <>
      <button type="button" class={kind} data-copy={text} {...answers} hidden>
        {message(language, label)}
      </button>
      {children} <output></output>
    </>
  );
}
