/** @jsxImportSource ./html */
import { message } from "../../locales/messages.ts";
import { InstantIn } from "./instant.tsx";

interface BeginsProps {
  readonly language: string;
  readonly ms: number;
}

/** When a link begins, and what others see until then. */
export function Begins({ language, ms }: BeginsProps) {
  return (
    <>
      <p class="begins">
        <InstantIn
          language={language}
          text={message(language, "scheduled.begins")}
          place="{starts}"
          ms={ms}
        />
      </p>
      <p class="soft">{message(language, "scheduled.until")}</p>
    </>
  );
}

/** When a link began that did not begin at once. */
export function Began({ language, ms }: BeginsProps) {
  return (
    <p class="soft">
      <InstantIn language={language} text={message(language, "scheduled.began")} place="{starts}" ms={ms} />
    </p>
  );
}
