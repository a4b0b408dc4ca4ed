/** @jsxImportSource ../shared/html */
import type { Page } from "../../http/page.ts";
import { message, sentenceSpace } from "../../locales/messages.ts";
import { whenIn } from "../../locales/relative-time.ts";
import { TextField } from "../shared/form-fields.tsx";
import { page } from "../shared/layout.tsx";
import { memoizePage } from "../shared/memoized-page.ts";
import { Ticket, TicketAddress } from "../shared/ticket.tsx";

/** Why the last password was refused. `seconds` is the time until the next attempt. */
export type Refusal =
  | { readonly kind: "wrong"; readonly tries: number; readonly seconds: number }
  | { readonly kind: "limited"; readonly seconds: number };

interface Locked {
  readonly baseUrl: string;
  readonly code: string;
  readonly refusal?: Refusal | undefined;
  /** Tells this form from others, so that it uses up one visit. */
  readonly form: string;
  /** The visitor's, if the link passes it on. */
  readonly sent: string;
}

/** Asks for the password of a link. */
export function passwordPage(language: string, { baseUrl, code, refusal, form, sent }: Locked): Page {
  const key = [language, baseUrl, (refusal && describeRefusal(language, refusal)) ?? null] as const;
  if (sent !== "") return render(key, code, form, sent);
  return memoizedPage(JSON.stringify(key), code, form);
}

const memoizedPage = memoizePage((key, code, form) => render(JSON.parse(key) as Known, code, form));

type Known = readonly [language: string, baseUrl: string, refusal: string | null];

function describeRefusal(language: string, refusal: Refusal): string {
  const later = () => message(language, "password.limited", { when: whenIn(language, refusal.seconds) });
  if (refusal.kind === "limited") return later();
  const wrong = message(language, "password.wrong");
  if (refusal.tries === Number.POSITIVE_INFINITY) return wrong;
  return `${wrong}${sentenceSpace(language)}${refusal.tries > 0 ? message(language, "password.left", { count: refusal.tries }) : later()}`;
}

function render([language, baseUrl, refusal]: Known, code: string, form = "", sent = ""): Page {
  const title = message(language, "password.title");
  return page(
    language,
    { title, sent },
    <>
      <h1>{title}</h1>
      <div class="columns wide">
        <Ticket stub={<TicketAddress baseUrl={baseUrl} code={code} />}>
          <form method="post" novalidate>
            <input type="hidden" name="form" value={form} />
            {/* A browser that saved the password would offer it for every other link. */}
            <TextField
              name="password"
              label={message(language, "password.label")}
              hint={message(language, "password.remembered")}
              errors={refusal === null ? {} : { password: refusal }}
              input={{ type: "password", required: true, autofocus: true }}
              button={<button class="primary">{message(language, "password.open")}</button>}
            />
          </form>
        </Ticket>
        <aside>
          <h2>{message(language, "password.unknown")}</h2>
          <p>{message(language, "password.ask")}</p>
        </aside>
      </div>
    </>,
  );
}
