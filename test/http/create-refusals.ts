import { TARGET } from "../support/managed-links.ts";
import type { Settings } from "../support/service.ts";
import { type Mistake, type Refusal, wrong } from "./refusal.ts";

export interface CreateRefusal extends Refusal {
  /** The fields of a link, as the API names them. */
  readonly sent: Readonly<Record<string, unknown>>;
}

/** The code of a link that exists already. */
export const TAKEN = "각인";
/** The time of the service. */
export const NOW = "2030-01-01T00:00:00.000Z";
const [PAST, SOON, LATER] = [
  "2029-12-31T12:00:00.000Z",
  "2098-01-01T00:00:00.000Z",
  "2099-01-01T00:00:00.000Z",
];

const refuse = (
  input: string,
  sent: CreateRefusal["sent"],
  mistakes: readonly Mistake[],
  status = 400,
): CreateRefusal => ({ input, sent, mistakes, status });

const SCHEME: Mistake = { field: "target", reason: "target.scheme", inForm: "home.not-address" };
const IN_USE: Mistake = { field: "code", reason: "code.taken", key: "taken", inForm: "home.taken" };
const NO_VISITS: Mistake = {
  ...wrong("max_visits", "max_visits.range", { min: 1, max: 1_000_000_000 }),
  inForm: "home.max-visits.wrong",
};
const BEFORE_START = wrong("expires_at", "expires_at.before-start");

/** Links that no door creates. The rules themselves are proved in test/links/ and test/moderation/. */
export const CREATE_REFUSALS: readonly CreateRefusal[] = [
  refuse("a target with another scheme", { target: "ftp://example.com/" }, [SCHEME]),
  refuse("a target at the service itself", { target: "https://curt.example/x" }, [
    wrong("target", "target.own"),
  ]),
  refuse("a target at another shortener", { target: "https://bit.ly/x" }, [
    wrong("target", "target.chain", { host: "bit.ly" }),
  ]),
  refuse("a reserved code", { target: TARGET, code: "api" }, [
    wrong("code", "code.reserved", { code: "api" }),
  ]),
  refuse("a code with a dot", { target: TARGET, code: "a.b" }, [
    wrong("code", "code.character", { character: ". (U+002E)" }),
  ]),
  refuse("a code in use", { target: TARGET, code: TAKEN }, [IN_USE], 409),
  refuse(
    "a code in use in another Unicode spelling",
    { target: TARGET, code: TAKEN.normalize("NFD") },
    [IN_USE],
    409,
  ),
  refuse("an expiry at this moment", { target: TARGET, expires_at: NOW }, [
    wrong("expires_at", "expires_at.past"),
  ]),
  refuse("an expiry before the start", { target: TARGET, starts_at: LATER, expires_at: SOON }, [
    BEFORE_START,
  ]),
  refuse(
    "a duration that is over before the start",
    { target: TARGET, starts_at: LATER, expires_at: "24h" },
    [BEFORE_START],
  ),
  refuse("an expiry at the start", { target: TARGET, starts_at: SOON, expires_at: SOON }, [BEFORE_START]),
  refuse("a limit of no visits", { target: TARGET, max_visits: 0 }, [NO_VISITS]),
  refuse("a wrong target and a wrong code", { target: "ftp://x", code: "ㅤ" }, [
    SCHEME,
    wrong("code", "code.invisible", { character: "U+3164" }),
  ]),
];

/** Rows for the form only, because creates of the API may arrive late. */
export const FORM_REFUSALS: readonly CreateRefusal[] = [
  refuse(
    "a start in the past, and three more mistakes",
    { target: "ftp://x", starts_at: PAST, expires_at: PAST, max_visits: 0 },
    [
      { ...wrong("starts_at", "starts_at.past"), inForm: "home.starts.past" },
      SCHEME,
      wrong("expires_at", "expires_at.past"),
      NO_VISITS,
    ],
  ),
];

const REQUIRED = wrong("target", "field.required");
const wrongType = (field: string, received: string) =>
  wrong(field, "field.type", { expected: "string", received });
const alike = (field: string, meant: string): Mistake => ({
  ...wrong(field, "field.unknown", { meant }),
  key: "field.unknown.meant",
});

/** Rows for JSON only. The contract alone has `expire_duration`. */
export const CREATE_TYPE_REFUSALS: readonly CreateRefusal[] = [
  refuse("no target", {}, [REQUIRED]),
  refuse("null as the target", { target: null }, [wrongType("target", "null")]),
  refuse("a number as the target", { target: 5 }, [wrongType("target", "number")]),
  refuse("an array as the target", { target: ["x"] }, [wrongType("target", "array")]),
  refuse("a number as the code", { target: TARGET, code: 7 }, [wrongType("code", "number")]),
  refuse("an object as the code", { target: TARGET, code: {} }, [wrongType("code", "object")]),
  refuse("a boolean as the code", { target: TARGET, code: true }, [wrongType("code", "boolean")]),
  refuse("a number as the duration", { target: TARGET, expire_duration: 24 }, [
    wrongType("expire_duration", "number"),
  ]),
  ...["2h", "", "24H", "never"].map((expire_duration) =>
    refuse(`${JSON.stringify(expire_duration)} as the duration`, { target: TARGET, expire_duration }, [
      wrong("expire_duration", "field.values", { values: "24h, 48h, 1week, 1month" }),
    ]),
  ),
  refuse("several wrong fields", { code: 1, expire_duration: 2 }, [
    REQUIRED,
    wrongType("code", "number"),
    wrongType("expire_duration", "number"),
  ]),
  refuse("an expiry that only the command accepts", { target: TARGET, expires_at: "never" }, [
    wrong("expires_at", "expires_at.format"),
  ]),
  refuse("an empty password", { target: TARGET, password: "" }, [
    wrong("password", "password.length", { min: 1, max: 128 }),
  ]),
  refuse("unknown fields like others", { target: TARGET, expire: 3, passwd: 3 }, [
    alike("expire", "expires_at"),
    alike("passwd", "password"),
  ]),
  refuse("the fields of the contract", { original_url: TARGET, custom_code: "x" }, [
    REQUIRED,
    alike("original_url", "target"),
    alike("custom_code", "code"),
  ]),
  refuse("an unknown field like no other", { target: TARGET, visits: 3 }, [wrong("visits", "field.unknown")]),
  // Cut to 64 units, and in the middle of a character.
  refuse("an unknown field with a long name", { target: TARGET, [`${"a".repeat(63)}😀`]: 3 }, [
    wrong(`${"a".repeat(63)}\uFFFD`, "field.unknown"),
  ]),
];

export interface CallerRefusal extends Refusal {
  readonly settings: Settings;
  readonly token?: string;
  /** Links that the caller has created before. */
  readonly created?: number;
}

const CREATE_TOKEN = "correct-horse-battery";
const needsToken = { settings: { CREATE_TOKEN }, status: 401, headers: { "www-authenticate": "Bearer" } };

/** Callers who may create no link, whatever they send. */
export const CALLER_REFUSALS: readonly CallerRefusal[] = [
  {
    input: "a caller without the token",
    ...needsToken,
    mistakes: [{ reason: "token.missing", key: "token", inForm: "home.token.wrong", formField: "token" }],
  },
  {
    input: "a caller with a wrong token",
    ...needsToken,
    token: "wrong-horse-battery",
    mistakes: [{ reason: "token.wrong", key: "token", inForm: "home.token.wrong", formField: "token" }],
  },
  {
    input: "a caller over LIMIT_CREATE",
    settings: { LIMIT_CREATE: "1/1h" },
    created: 1,
    status: 429,
    mistakes: [{ reason: "limit.create", key: "limited", values: { when: "in 60 minutes" } }],
    headers: { "retry-after": "3600" },
  },
];
