/**
 * The largest values that a request may contain, as sent. All code reads its input through this file, so that no parser,
 * normaliser, regular expression, sort or hash gets a larger one. Some of them take quadratic time.
 */

/** In characters. A longer header counts as absent, unless its reader says otherwise. */
export const HEADERS = {
  accept: 512,
  "accept-encoding": 512,
  "accept-language": 512,
  "access-control-request-headers": 1024,
  "access-control-request-method": 32,
  // Basic: a password of 512 units, each up to three bytes, as Base64, and a user name.
  authorization: 2304,
  "content-encoding": 64,
  "content-length": 20,
  "content-type": 256,
  cookie: 16_384,
  // A name has at most 253 characters (RFC 1035, section 2.3.4), and a port five.
  host: 259,
  "idempotency-key": 512,
  "if-match": 1024,
  "if-none-match": 1024,
  origin: 512,
  purpose: 64,
  referer: 4096,
  "request-id": 64,
  "sec-fetch-dest": 32,
  "sec-fetch-site": 32,
  "sec-purpose": 64,
  "transfer-encoding": 64,
  upgrade: 64,
  "user-agent": 1024,
  "x-forwarded-for": 2048,
  "x-purpose": 64,
} as const;
export type HeaderName = keyof typeof HEADERS;

/** Reads a header. `tooLong` takes the place of a value above the bound. */
export function header(headers: Headers, name: HeaderName, tooLong: string | null = null): string | null {
  const value = headers.get(name);
  return value === null || value.length <= HEADERS[name] ? value : tooLong;
}

/** Reads a header that a setting names. A longer value is cut to a length that no name has. "" without one. */
export function namedHeader(headers: Headers, name: string): string {
  return headers.get(name)?.slice(0, 128) ?? "";
}

/** Cookies of one name. Each is checked against a signature. */
export const MAX_COOKIES = 4;
/** In characters, of a value. */
const MAX_COOKIE_LENGTH = 256;

/**
 * All cookies of a name, without decoding. The first one may not be ours: a site below the same domain can set one of this
 * name, which browsers send first if its path is longer.
 */
export function cookies(headers: Headers, name: string): string[] {
  const matches = (header(headers, "cookie") ?? "").matchAll(
    new RegExp(`(?:^|;)[ \\t]*${name}=([^;]*)`, "g"),
  );
  return matches
    .take(MAX_COOKIES)
    .map(([, value = ""]) => value.trim())
    .filter((value) => value.length <= MAX_COOKIE_LENGTH)
    .toArray();
}

/** 64 code points of up to eight units; the operator also sends the domain before them. */
const CODE = 768;
const TARGET = 8192;
const WHEN = 64;
const WORD = 64;
const KEY = 512;

/**
 * The fields of JSON bodies, forms and queries, in UTF-16 units without the escapes of their format. A longer value is cut to
 * one unit above its bound, which every rule refuses with the same error as the whole value.
 */
export const FIELDS = {
  // Fields of a link.
  original_url: TARGET,
  target: TARGET,
  custom_code: CODE,
  code: CODE,
  domain: 253,
  // A name of up to 64 characters.
  owner: 64,
  expire_duration: WHEN,
  expires_at: WHEN,
  starts_at: WHEN,
  max_visits: 20,
  password: 512,
  forward_query: WORD,
  forward_path: WORD,
  // 200 code points of up to two units.
  title: 400,
  // Only in forms and queries.
  expires_at_date: WHEN,
  starts_at_date: WHEN,
  zone: WORD,
  text: TARGET,
  meant: TARGET,
  instead: CODE,
  token: KEY,
  // Or the whole manage link.
  key: 4096,
  act: WORD,
  sure: WORD,
  remove: WORD,
  address: 4096,
  /** The path of a visit, in the addresses of other pages: as long as {@link MAX_PATH}. */
  path: 4700,
  language: WORD,
  range: WORD,
  by: WORD,
  from: WHEN,
  to: WHEN,
  interval: WORD,
  tz: WORD,
  format: WORD,
  download: WORD,
  size: 20,
  margin: 20,
  dark: WORD,
  light: WORD,
  ecc: WORD,
  // Reports, and what the operator sends.
  reason: WORD,
  note: 4000,
  form: KEY,
  action: WORD,
  count: 20,
  until: WHEN,
  confirm: CODE,
  host: TARGET,
  block: 253,
  seen: WORD,
  /** The target that the operator has seen. */
  was: TARGET,
  entry: 20,
  back: TARGET,
  q: TARGET,
  cursor: 1024,
  limit: 20,
} as const;
export type FieldName = keyof typeof FIELDS;

/** Cuts a value above its bound. The result is still above it, and ends in a character that no rule accepts or trims. */
export function cut(name: FieldName, value: string): string {
  const max = FIELDS[name];
  return value.length <= max ? value : `${value.slice(0, max)}\uFFFF`;
}

/** In characters, as sent: the longest spelling of a code, with each byte as %XX. The rest of longer ones isn't read. */
export const MAX_PATH = 4700;
/** In characters. A longer query isn't passed on to a destination. */
export const MAX_FORWARDED_QUERY = 16_384;
/**
 * Fields of a form or parameters of a query; none of ours has as many. Parsing the 30,000 that fit into a body would take as long
 * as 300 redirects, and the 7,800 that fit into a query as long as 100. A longer query counts as absent.
 */
export const MAX_PAIRS = 100;

/** The fields of a form or query. */
export interface Fields extends Iterable<[string, string]> {
  get(name: FieldName): string | null;
  getAll(name: FieldName): string[];
  has(name: FieldName): boolean;
}

/** Whether a form or query has more than {@link MAX_PAIRS} fields, by their separators. */
export function hasTooManyPairs(text: string): boolean {
  return text.split("&", MAX_PAIRS + 1).length > MAX_PAIRS;
}

/**
 * Reads the fields of a form or query (WHATWG URL, section 5). Leaves out unknown ones, and none of the others: without one, a
 * search would find more, and a link would have fewer terms.
 */
export function parseFields(text: string): Fields {
  const pairs = new URLSearchParams(text);
  const known = new URLSearchParams();
  for (const [name, value] of pairs) if (isField(name)) known.append(name, cut(name, trimmed(name, value)));
  return known;
}

function isField(name: string): name is FieldName {
  return Object.hasOwn(FIELDS, name);
}

/** Readers ignore white space around all values but passwords, so it doesn't count against the bound. */
function trimmed(name: FieldName, value: string): string {
  return value.length > FIELDS[name] && name !== "password" ? value.trim() : value;
}

/** Arrays and objects inside each other. No body needs more than three. */
export const MAX_NESTING = 16;
/** A JSON body may have one value per 64 bytes. Many unknown fields take fifty times as long to parse as text. */
export const BYTES_PER_VALUE = 64;
/** Fields and elements. */
export const maxValues = ({ maxBytes }: AnyBody) => maxBytes / BYTES_PER_VALUE;

export interface AnyBody {
  readonly type: "json" | "form";
  readonly fields: readonly FieldName[];
  readonly maxBytes: number;
}

/** A body with exactly the fields of its schema. */
export interface Body<in out Name> extends AnyBody {
  readonly fields: readonly (Name & FieldName)[];
}

/** JSON may escape each unit as \uXXXX. In a form, a unit has up to three bytes, each sent as %XX. */
const BYTES_PER_UNIT = { json: 6, form: 9 } as const;
/** For names, white space, and fields that an endpoint ignores. */
const SPARE_BYTES = 4096;
/** The bound of every body, even if all fields at their bounds need more. */
const MAX_BODY_BYTES = 64 * 1024;

/** Allows as many bytes as the fields can need, up to {@link MAX_BODY_BYTES}. */
function body<const Name extends FieldName>(type: AnyBody["type"], ...fields: readonly Name[]): Body<Name> {
  const units = fields.reduce((sum, name) => sum + FIELDS[name], 0);
  const bytes = units * BYTES_PER_UNIT[type] + SPARE_BYTES;
  return { type, fields, maxBytes: Math.min(MAX_BODY_BYTES, Math.ceil(bytes / 1024) * 1024) };
}

const TERMS = [
  "expires_at",
  "starts_at",
  "max_visits",
  "password",
  "forward_query",
  "forward_path",
  "title",
] as const;
const LINK = body("json", "target", "code", "domain", ...TERMS);
const CHOICES = ["zone", "form", "token", "meant", "instead"] as const;
const HOME = body("form", "original_url", "custom_code", "expire_duration", ...TERMS, ...CHOICES);
const DATES = ["expires_at_date", "starts_at_date", "zone"] as const;
const DECISION = ["form", "reason", "note"] as const;

/** Every request that has a body. */
export const BODIES = {
  "POST /api/v1/shorten": body("json", "original_url", "custom_code", "expire_duration"),
  "POST /api/v1/links": LINK,
  "POST /api/v1/links/batch": { ...LINK, maxBytes: 1024 * 1024 },
  "PATCH /api/v1/links/{code}": body("json", "target", "owner", ...TERMS),
  "POST /api/v1/links/{code}/reports": body("json", "reason", "note"),
  "POST /": HOME,
  "POST /+new": HOME,
  "POST /{code}": body("form", "password", "form"),
  "POST /{code}+report": body("form", "reason", "note", "path"),
  "POST /{code}+manage": body(
    "form",
    "key",
    "form",
    "act",
    "entry",
    "seen",
    "sure",
    "target",
    "owner",
    ...TERMS,
    ...DATES,
    "remove",
  ),
  "POST /admin": body("form", "token"),
  "POST /admin/sign-out": body("form"),
  "POST /admin/links/{code}": body(
    "form",
    ...DECISION,
    "action",
    "seen",
    "was",
    "back",
    "confirm",
    "target",
    "expires_at",
    "expires_at_date",
    "zone",
  ),
  "POST /admin/links": body("form", ...DECISION, "action", "until", "code"),
  "POST /admin/found": body("form", ...DECISION, "action", "count", "until", "block", "owner"),
  "POST /admin/hosts": body("form", ...DECISION, "action", "host", "count"),
  "POST /admin/journal": body("form", "entry", "back"),
  "POST /api/v1/admin/links/disable": body("json", "count", "until", "reason", "note"),
  "POST /api/v1/admin/links/enable": body("json", "count", "until", "note"),
  "POST /api/v1/admin/links/hand-over": body("json", "count", "until", "owner", "note"),
  "PATCH /api/v1/admin/links/{code}": body("json", "target", "expires_at", "owner", "note"),
  "DELETE /api/v1/admin/links/{code}": body("json", "note"),
  "POST /api/v1/admin/links/{code}/disable": body("json", "reason", "note"),
  "POST /api/v1/admin/links/{code}/enable": body("json", "note"),
  "PUT /api/v1/admin/hosts/{host}": body("json", "reason", "note"),
  "DELETE /api/v1/admin/hosts/{host}": body("json", "note"),
  "POST /api/v1/admin/cases/{code}": body("json", "action", "reason", "note"),
  "POST /api/v1/admin/decisions/{id}/undo": body("json", "note"),
} as const satisfies Record<string, AnyBody>;
