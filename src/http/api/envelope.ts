import type { Link } from "../../links/link.ts";
import { message, type MessageKey, negotiateLanguage } from "../../locales/messages.ts";
import type { Asked } from "../call.ts";
import type { Domain } from "../domain.ts";
import { json } from "../responses.ts";
import type { ShortLink } from "./schemas.ts";

/** The contract's envelope. */
export function success(
  call: Asked,
  status: number,
  key: MessageKey,
  data: unknown,
  ownHeaders: Readonly<Record<string, string>> = {},
): Response {
  const language = negotiateLanguage(call.headers.get("accept-language"));
  return json(
    call,
    status,
    { status: "success", message: message(language, key), data },
    language,
    ownHeaders,
  );
}

/** A link as answers tell it. `written` is the code as its maker spelled it. */
export function toShortLink(
  link: Pick<Link, "originalUrl" | "endsMs">,
  written: string,
  domain: Domain,
): ShortLink {
  return {
    short_url: domain.shortUrl(written),
    original_url: link.originalUrl,
    code: written,
    expiration_date: new Date(link.endsMs).toISOString(),
  };
}
