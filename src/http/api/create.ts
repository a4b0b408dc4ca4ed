import type { CreateRequest } from "../../links/create.ts";
import type { Link } from "../../links/link.ts";
import { type Invalid, isProblem, type Refusal } from "../../links/problem.ts";
import type { Secret } from "../../links/secret.ts";
import { type Expiry, parseWhen } from "../../links/time.ts";
import type { MessageKey } from "../../locales/messages.ts";
import type { Domain } from "../domain.ts";
import { type FieldNames, LINK_FIELDS, SHORTEN_FIELDS } from "../field-names.ts";
import type { HttpProblem } from "../problems.ts";
import { toShortLink } from "./envelope.ts";
import { type JsonObject, readFields } from "./json-body.ts";
import { editLink, managedLinkData } from "./link-data.ts";
import { LINK_EXAMPLE, linkRequest, SHORTEN_NAMES } from "./link-schemas.ts";
import { EXAMPLE, shortenRequest } from "./schemas.ts";

/** One of the two ways to ask for a link and to be told of it: the contract's, and our own. */
export interface Dialect {
  /** A body that would be right, for the message about a wrong one. */
  readonly example: JsonObject;
  /** What the parts of a link are called here, for messages about them. */
  readonly fields: FieldNames;
  /** Says that the link was made. */
  readonly message: MessageKey;
  /** Reads a body, with all its types; the domain checks the values. */
  read(body: JsonObject): Wanted | HttpProblem;
}

/** What a body asks for. */
export interface Wanted {
  readonly request: CreateRequest;
  /** What its maker is told once the link is made. */
  tell(link: Link, domain: Domain): MadeLink;
}

export interface MadeLink {
  readonly data: object;
  /** Made only where they are sent, because they take twice as long as the data. */
  headers(): Readonly<Record<"Location" | "Link", string>>;
}

export type Dialects = ReturnType<typeof createDialects>;

/** The module is loaded with the first body, because making the schemas takes a while and redirects do without. */
export function createDialects(secret: Pick<Secret, "manageKey">) {
  function headersOf(link: Link, short_url: string, domain: Domain): MadeLink["headers"] {
    return () => ({ Location: new URL(short_url).href, Link: editLink(link, domain, secret) });
  }

  const shorten: Dialect = {
    example: { original_url: EXAMPLE.original_url },
    fields: SHORTEN_FIELDS,
    message: "shortened",
    read(fields) {
      const body = readFields(fields, shortenRequest);
      if (isProblem(body)) return body;
      const customCode = body.custom_code || undefined;
      const { original_url: originalUrl, expire_duration: expiry } = body;
      return {
        request: { originalUrl, customCode, expiry: expiry ?? undefined },
        tell(link, domain) {
          const data = toShortLink(link, customCode ?? link.code, domain);
          return { data, headers: headersOf(link, data.short_url, domain) };
        },
      };
    },
  };

  const links: Dialect = {
    example: { target: LINK_EXAMPLE.target },
    fields: LINK_FIELDS,
    message: "link.made",
    read(fields) {
      const body = readFields(fields, linkRequest, SHORTEN_NAMES);
      if (isProblem(body)) return body;
      const expiry = readExpiry(body.expires);
      const starts = readStart(body.starts);
      const refusals = [expiry, starts].filter(isProblem).flatMap((problem) => problem.refusals);
      if (isProblem(expiry) || isProblem(starts)) return { kind: "invalid", refusals };
      return {
        request: {
          originalUrl: body.target,
          customCode: body.code || undefined,
          expiry,
          starts,
          maxVisits: body.max_visits ?? undefined,
          password: body.password ?? undefined,
        },
        tell(link, domain) {
          const data = managedLinkData(link, domain, secret, { nowMs: link.createdMs, visits: 0 });
          return { data, headers: headersOf(link, data.short_url, domain) };
        },
      };
    },
  };

  return { shorten, links };
}

/** Undefined stays undefined; null never ends. */
export function readExpiry(written: string | null | undefined): Expiry | number | undefined | Invalid {
  return written === null ? "never" : readWhen(written, "expires.format");
}

export function readStart(written: string | null | undefined) {
  return readWhen(written ?? undefined, "starts.format");
}

function readWhen(
  written: string | undefined,
  rule: Extract<Refusal["rule"], "expires.format" | "starts.format">,
) {
  if (written === undefined) return undefined;
  return parseWhen(written) ?? { kind: "invalid" as const, refusals: [{ rule }] };
}
