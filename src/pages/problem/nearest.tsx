/** @jsxImportSource ../shared/html */
import { message } from "../../locales/messages.ts";
import type { ListedLink } from "../../moderation/directory.ts";
import { FORM } from "../shared/layout.tsx";
import { TicketAddress } from "../shared/ticket.tsx";

interface NearestProps {
  readonly language: string;
  readonly baseUrl: string;
  readonly links: readonly ListedLink[];
}

/** The links whose codes resemble one that doesn't exist. */
export function Nearest({ language, baseUrl, links }: NearestProps) {
  if (links.length === 0) return null;
  return (
    <section class="meant" aria-labelledby="near">
      <h2 id="near">{message(language, "all.near")}</h2>
      {links.map(({ code, title, owner }) => (
        <div>
          <TicketAddress baseUrl={baseUrl} code={code} href={`/${encodeURIComponent(code)}`} />
          <p class="hint">
            {title !== undefined && <bdi>{title}</bdi>}
            {title !== undefined && owner !== undefined && " · "}
            <bdi>{owner}</bdi>
          </p>
        </div>
      ))}
    </section>
  );
}

/** Opens the form with a code filled in. */
export function CreateIt({ language, code }: { language: string; code: string }) {
  return (
    <form action={FORM}>
      <input type="hidden" name="custom_code" value={code} />
      <button>{message(language, "page.unknown.make")}</button>
    </form>
  );
}
