// How each door shows a refusal. The tables of refusals beside this file say which ones there are.
import { expect } from "bun:test";

import type { ProblemReason } from "../../src/http/problem-reasons.ts";
import { message, type MessageKey, type Values } from "../../src/locales/messages.ts";

/** One mistake in a request. */
export interface Mistake {
  readonly reason: ProblemReason;
  /** The key of the message in `locales/en.json`. Default: the reason. */
  readonly key?: MessageKey;
  readonly values?: Values;
  /** As the API names it. Undefined for mistakes that belong to no field. */
  readonly field?: string;
  /** The key of the message in a form, where it differs, and the field there of a mistake that has none in the API. */
  readonly inForm?: MessageKey;
  readonly formField?: string;
}

export interface Refusal {
  /** The mistake in the request, for the name of its test. */
  readonly input: string;
  /** Default: 400. */
  readonly status?: number;
  readonly mistakes: readonly Mistake[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** A mistake in a field. */
export const wrong = (field: string, reason: ProblemReason, values: Values = {}): Mistake => ({
  field,
  reason,
  values,
});

/** Rows as `test.each` wants them. */
export const rowsOf = <R extends Refusal>(refusals: readonly R[]) =>
  refusals.map((refusal) => [refusal.input, refusal] as const);

type Renamed = Readonly<Record<string, string>>;

/** The names of fields in the contract's endpoint and in the home form. */
export const SHORTEN_NAMES: Renamed = { target: "original_url", code: "custom_code" };

function textOf({ reason, key = reason as MessageKey, values }: Mistake): string {
  return message("en", key, values);
}

/** The message for programs, with the names of fields in front. */
export function messageOf({ mistakes }: Pick<Refusal, "mistakes">, names: Renamed = {}): string {
  return mistakes
    .map((mistake) => {
      const { field, reason } = mistake;
      const isFixed = names === SHORTEN_NAMES && reason === "code.taken";
      return field === undefined || isFixed
        ? textOf(mistake)
        : `${names[field] ?? field}: ${textOf(mistake)}`;
    })
    .join(" ");
}

/** `errors` of the envelope. */
export function errorsOf({ mistakes }: Pick<Refusal, "mistakes">) {
  return mistakes.map((mistake) => ({
    field: mistake.field ?? null,
    reason: mistake.reason,
    message: textOf(mistake),
  }));
}

export const reasonsOf = ({ mistakes }: Pick<Refusal, "mistakes">) =>
  [...new Set(mistakes.map(({ reason }) => reason))].join(", ");

/** Expects the status, the reasons and the headers. */
export function expectHead({ status, headers }: Response, refusal: Refusal): void {
  expect([status, headers.get("curt-reason")]).toEqual([refusal.status ?? 400, reasonsOf(refusal)]);
  for (const name of ["accept-encoding", "location", "retry-after", "www-authenticate"])
    expect(headers.get(name), name).toBe(refusal.headers?.[name] ?? null);
}

/** Expects the whole envelope of the API. That of the contract's endpoint has other names, and no `errors`. */
export async function expectEnvelope(response: Response, refusal: Refusal, names?: Renamed): Promise<void> {
  expectHead(response, refusal);
  const isContract = names === SHORTEN_NAMES;
  expect(await response.json()).toEqual({
    status: "error",
    message: messageOf(refusal, names),
    ...(!isContract && { errors: errorsOf(refusal) }),
  });
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(response.headers.get("cache-control")).toBe("no-store");
  const isApi = new URL(response.url).pathname.startsWith("/api/");
  expect(response.headers.get("access-control-allow-origin")).toBe(isApi ? "*" : null);
}

/**
 * Expects a page with exactly these messages: beside their fields, or above the form for mistakes that belong to none. Returns
 * the page.
 */
export async function expectInForm(
  response: Response,
  refusal: Refusal,
  /** The names of fields. `none` is the field of messages that belong to none. */
  names: Renamed = {},
): Promise<string> {
  expectHead(response, refusal);
  const page = await response.text();
  const shown = [...page.matchAll(/<p class="error" (?:id="(\w+)-error"|role="alert")>(.*?)<\/p>/g)];
  const expected = refusal.mistakes.map((mistake) => {
    const { formField: field = mistake.field ?? "none", inForm: key = mistake.key } = mistake;
    return `${names[field] ?? field}: ${textOf({ ...mistake, ...(key !== undefined && { key }) })}`;
  });
  const messages = shown.map(([, field = "none", text = ""]) => `${field}: ${plainText(text)}`);
  expect(messages.toSorted()).toEqual(expected.toSorted());
  return page;
}

const plainText = (html: string) =>
  html
    .replace(/<[^>]*>/g, "")
    .replace(/&#39;|&#x27;/g, "'")
    .replace(/&quot;|&#34;/g, '"')
    .replaceAll("&amp;", "&");
