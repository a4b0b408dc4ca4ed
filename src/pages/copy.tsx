/** @jsxImportSource hono/jsx */
import { message } from "../language/language.ts";

interface CopyButtonProps {
  readonly language: string;
  readonly kind: "primary" | "plain";
  /** What stands before the button, where it is not given. */
  readonly text?: string;
}

/** Scripts show it; what they have to say goes behind it. */
export function CopyButton({ language, kind, text = "" }: CopyButtonProps) {
  return (
    <>
      <button type="button" class={kind} data-copy={text} data-done={message(language, "copied")} hidden>
        {message(language, "copy")}
      </button>
      <output></output>
    </>
  );
}
