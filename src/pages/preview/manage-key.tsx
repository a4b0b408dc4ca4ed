/** @jsxImportSource ../shared/html */
import { message, sentenceSpace } from "../../locales/messages.ts";
import { managePath } from "../manage/page.tsx";
import { CopyButton } from "../shared/copy-button.tsx";
import { lasting } from "../shared/time-words.ts";

/** For so long, the browser that made a link is shown its manage address. */
export const JUST_MADE_MS = 10 * 60_000;

interface KeepProps {
  readonly language: string;
  readonly code: string;
  readonly createdMs: number;
  readonly origin: string;
  readonly manageKey: string;
}

/** The manage address of a link, for whoever has just made it. The script keeps the key with the links made here. */
export function Keep({ language, code, createdMs, origin, manageKey }: KeepProps) {
  const address = `${origin}/${encodeURIComponent(code)}+#key=${manageKey}`;
  return (
    <section
      class="card"
      aria-labelledby="keep"
      data-key={manageKey}
      data-link={`/api/v1/links/${encodeURIComponent(code)}`}
      data-created={new Date(createdMs).toISOString()}
    >
      <h2 id="keep">{message(language, "keep.title")}</h2>
      <p>
        {message(language, "keep.meaning")}
        {sentenceSpace(language)}
        {message(language, "keep.until", { minutes: lasting(language, JUST_MADE_MS) })}
        {sentenceSpace(language)}
        <span data-kept>{message(language, "keep.here")}</span>
      </p>
      <p class="whole">
        <bdi dir="ltr">{address}</bdi>
      </p>
      <form method="post" action={managePath(code)}>
        <input type="hidden" name="key" value={manageKey} />
        <div class="actions">
          <CopyButton language={language} kind="secondary" label="keep.copy" text={address}>
            <button>{message(language, "preview.manage")}</button>
          </CopyButton>
        </div>
      </form>
    </section>
  );
}
