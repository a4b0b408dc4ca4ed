import type { LinkKey } from "../../src/links/code.ts";
import { HOUR_MS } from "../../src/links/time.ts";
import { callApi, destinationOf, type ManagedLink } from "../support/managed-links.ts";
import { disableLink, type LocalService, openStoreOf } from "../support/service.ts";
import { type Mistake, type Refusal, wrong } from "./refusal.ts";

export interface ChangeRefusal extends Refusal {
  /** The changes, as the API names them. */
  readonly sent: Readonly<Record<string, unknown>>;
}

const LONG_AGO = "2001-01-01T00:00:00.000Z";
const refuse = (
  input: string,
  sent: ChangeRefusal["sent"],
  ...mistakes: readonly Mistake[]
): ChangeRefusal => ({ input, sent, mistakes });

const SCHEME: Mistake = wrong("target", "target.scheme");

/** Changes that no door makes to a link that has started. The rules are those of creates, or proved in test/links/. */
export const CHANGE_REFUSALS: readonly ChangeRefusal[] = [
  refuse("a target with another scheme", { target: "ftp://example.com/" }, SCHEME),
  refuse(
    "a target at the service itself",
    { target: "https://curt.example/x" },
    wrong("target", "target.own"),
  ),
  refuse(
    "a target with a password",
    { target: "https://u:p@example.com/" },
    wrong("target", "target.credentials"),
  ),
  refuse(
    "a target at another shortener",
    { target: "https://bit.ly/x" },
    wrong("target", "target.chain", { host: "bit.ly" }),
  ),
  refuse("an expiry in the past", { expires_at: LONG_AGO }, wrong("expires_at", "expires_at.past")),
  refuse(
    "a wrong target, a wrong limit and a wrong password",
    { target: "x", max_visits: 1_000_000_001, password: "x".repeat(129) },
    SCHEME,
    wrong("max_visits", "max_visits.range", { min: 1, max: 1_000_000_000 }),
    wrong("password", "password.length", { min: 1, max: 128 }),
  ),
];

/** Rows for JSON only. */
export const CHANGE_TYPE_REFUSALS: readonly ChangeRefusal[] = [
  refuse(
    "null as the target",
    { target: null },
    wrong("target", "field.type", { expected: "string", received: "null" }),
  ),
  refuse(
    "original_url instead of target",
    { original_url: "https://example.net/" },
    {
      field: "original_url",
      reason: "field.unknown",
      key: "field.unknown.meant",
      values: { meant: "target" },
    },
  ),
  refuse("an empty password", { password: "" }, wrong("password", "password.length", { min: 1, max: 128 })),
  refuse("another code", { code: "other" }, wrong("code", "field.fixed")),
];

export interface ManagerRefusal extends Refusal {
  readonly terms?: object;
  /** Changes the link before the request. */
  readonly prepare?: (service: LocalService, link: ManagedLink) => unknown;
  /** The link may still be withdrawn. */
  readonly onlyChanges?: true;
  /** Its key can't even read it. */
  readonly isHidden?: true;
}

/** The time of the service when a link is created. */
export const CREATED_MS = Date.parse("2030-01-01T00:00:00Z");

async function erase(service: LocalService, { code }: ManagedLink): Promise<void> {
  await using store = await openStoreOf(service);
  const link = await store.find(code as LinkKey);
  if (link !== undefined) await store.erase(link, { who: "api", atMs: service.nowMs() });
}

/** Links that their own key can't change, or can't even withdraw. Time passes from row to row. */
export const MANAGER_REFUSALS: readonly ManagerRefusal[] = [
  {
    input: "a used-up link",
    terms: { max_visits: 1 },
    prepare: (service, { code }) => destinationOf(service, code),
    status: 410,
    mistakes: [{ reason: "link.used-up", key: "expired.visits" }],
  },
  {
    input: "a withdrawn link",
    prepare: (service, { path, key }) => callApi(service, "DELETE", path, { key }),
    status: 410,
    mistakes: [
      { reason: "link.withdrawn", key: "expired.withdrawn", values: { ended: "2030-01-01T00:00:00.000Z" } },
    ],
  },
  {
    input: "a disabled link",
    prepare: (service, { code }) => disableLink(service, code, "spam"),
    status: 410,
    mistakes: [{ reason: "link.disabled", key: "disabled.spam" }],
    onlyChanges: true,
  },
  {
    input: "a deleted link",
    prepare: erase,
    status: 410,
    mistakes: [{ reason: "link.disabled", key: "disabled.deleted" }],
    isHidden: true,
  },
  {
    input: "an expired link",
    prepare: (service) => service.advance(HOUR_MS),
    terms: { expires_at: new Date(CREATED_MS + HOUR_MS).toISOString() },
    status: 410,
    mistakes: [{ reason: "link.expired", key: "expired", values: { ended: "2030-01-01T01:00:00.000Z" } }],
  },
  {
    input: "a link whose code is free again",
    prepare: (service) => service.advance(32 * 24 * HOUR_MS),
    terms: { expires_at: "24h" },
    status: 404,
    mistakes: [{ reason: "link.unknown", key: "unknown" }],
    isHidden: true,
  },
];

/** Keys that don't open a link, by its own key. */
export const WRONG_KEYS: readonly (readonly [input: string, keyOf: (key: string) => string])[] = [
  ["its key without the last character", (key) => key.slice(0, -1)],
  ["its key without the first character", (key) => key.slice(1)],
  ["its key and another character", (key) => `${key}A`],
  ["its key in upper case", (key) => key.toUpperCase()],
  ["a short key", () => "x"],
];
export const WRONG_KEY: Refusal = { input: "a wrong key", status: 403, mistakes: [{ reason: "key.wrong" }] };
export const UNKNOWN: Refusal = {
  input: "an unknown code",
  status: 404,
  mistakes: [{ reason: "link.unknown", key: "unknown" }],
};
export const NO_KEY: Refusal = {
  input: "no key",
  status: 401,
  mistakes: [{ reason: "key.missing" }],
  headers: { "www-authenticate": "Bearer" },
};
