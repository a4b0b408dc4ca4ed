/** @jsxImportSource ../shared/html */
import type { Page } from "../../http/page.ts";
import { message } from "../../locales/messages.ts";
import { TextField, VERBATIM } from "../shared/form-fields.tsx";
import { page } from "../shared/layout.tsx";
import { Ticket, TicketAddress } from "../shared/ticket.tsx";
import { managePath } from "./page.tsx";

interface KeyForm {
  readonly baseUrl: string;
  readonly code: string;
  readonly error?: string | undefined;
}

/** Asks for the key. Doesn't reveal whether the link exists. */
export function keyPage(language: string, { baseUrl, code, error }: KeyForm): Page {
  const heading = message(language, "preview.manage");
  const errors = error === undefined ? {} : { key: error };
  return page(
    language,
    { title: error === undefined ? heading : message(language, "report.refused") },
    <>
      <h1>{heading}</h1>
      <Ticket stub={<TicketAddress baseUrl={baseUrl} code={code} />}>
        <form method="post" action={managePath(code)} novalidate>
          <TextField
            name="key"
            label={message(language, "manage.key")}
            hint={message(language, "manage.key.where")}
            errors={errors}
            input={{ ...VERBATIM, required: true, autofocus: true }}
            button={<button class="primary">{message(language, "manage.open")}</button>}
          />
        </form>
      </Ticket>
    </>,
  );
}
