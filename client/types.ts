// Made by `npm run client` from the service's OpenAPI document. Change src/api/ instead.

export type ExpireDuration = "24h" | "48h" | "1week" | "1month";

export type ShortenRequest = {
  /** The URL to shorten, starting with http:// or https://. Its length is measured after percent-encoding. */
  original_url: string;
  /** The code you want: letters, marks and numbers of any script, -, _ and emoji. Its length is counted in NFC, without U+FE0F. If omitted, a code is generated. */
  custom_code?: string | null | undefined;
  /** How long the link works; a month is 30 days. If omitted, the operator's default applies; a GET request to this address shows it. */
  expire_duration?: ExpireDuration | null | undefined;
};

export type ShortLink = {
  /** The short address, with the code in readable Unicode. */
  short_url: string;
  /** Exactly as sent. */
  original_url: string;
  /** Exactly as sent, or as generated. */
  code: string;
  /** When the link expires; 9999-12-31T00:00:00.000Z if it never does. */
  expiration_date: string;
};

export type LinkRequest = {
  /** The URL to shorten, starting with http:// or https://. Its length is measured after percent-encoding. */
  target: string;
  /** The code you want: letters, marks and numbers of any script, -, _ and emoji. Its length is counted in NFC, without U+FE0F. If omitted, a code is generated. */
  code?: string | null | undefined;
  /** The host of the short address, if the service has several. If omitted, the host of the request. */
  domain?: string | null | undefined;
  /** When the link ends: an RFC 3339 time, or a duration from now: `24h`, `48h`, `1week` or `1month` (30 days). `null`: never. If omitted, the operator's default applies. */
  expires_at?: string | null | undefined;
  /** When the link starts, in the same format as `expires_at`. Until then, it does not exist for visitors. If `null` or omitted, it starts immediately. */
  starts_at?: string | null | undefined;
  /** The link ends after this many visits. If `null` or omitted, there is no limit. */
  max_visits?: number | null | undefined;
  /** Visitors must enter it before the link redirects them. If `null` or omitted, there is no password. */
  password?: string | null | undefined;
  /** Whether the query of each visit is appended to the destination: `/sale?utm_source=mail` adds `utm_source=mail`. Parameters of the destination win over equal names. `false` if `null` or omitted. */
  forward_query?: boolean | null | undefined;
  /** Whether the path after the code of each visit goes to the destination: `/docs/a/b` adds `/a/b` to its path, or `a/b` in place of `{path}` in its path, query or fragment. Never leads out of the destination’s folder. `false` if `null` or omitted. */
  forward_path?: boolean | null | undefined;
  /** The link's purpose, in one line. Only operators, holders of the manage key, and people whom the proxy names see it. If `null` or omitted, the link has no title. */
  title?: string | null | undefined;
};

export type LinkState = "active" | "scheduled" | "expired" | "used_up" | "withdrawn" | "disabled";

export type DisabledReason = "malware" | "phishing" | "spam" | "illegal" | "legal" | "other" | "blocklist";

export type QrCodes = {
  svg: string;
  png: string;
};

export type ManagedLink = {
  /** As stored: in NFC, without U+FE0F. */
  code: string;
  /** The short address, with the code in readable Unicode. */
  short_url: string;
  /** The short address in ASCII. */
  ascii_url: string;
  /** The destination, exactly as sent. `null` if the link has a password and the request has no manage key. */
  target: string | null;
  /** When the link was created. */
  created_at: string;
  /** When the link ends or ended; `null` if it never ends. */
  expires_at: string | null;
  /** When the link starts or started; `null` if it started on creation. */
  starts_at: string | null;
  /** How many visits the link allows; `null` if there is no limit. */
  max_visits: number | null;
  /** Whether visitors must enter a password. */
  has_password: boolean;
  /** Whether the query of each visit is appended to the destination. */
  forward_query: boolean;
  /** Whether the path after the code of each visit goes to the destination. */
  forward_path: boolean;
  /** The link's purpose; `null` if it has no title. Only requests with the manage key and people whom the proxy names get it. */
  title?: string | null | undefined;
  /** How many of these visits have been used; `null` if there is no limit, or if the request has no manage key. */
  visits_used: number | null;
  /** The creator's name, if they used a token with a name or were signed in. Only requests with the manage key get it. */
  created_by?: string | undefined;
  /** The person whose link it is. Only requests with the manage key and people whom the proxy names get it. */
  owner?: string | undefined;
  /** `scheduled`: not started yet; `used_up`: its visit limit is reached; `withdrawn`: withdrawn by its maker; `disabled`: see `disabled_reason`. */
  state: LinkState;
  /** Why the link does not work although it may not have expired: the operator's reason for disabling it or blocking its host, or `blocklist` if its host is on a blocklist. `null` if it works. */
  disabled_reason: DisabledReason | null;
  /** When the destination was last changed; `null` if never. */
  changed_at: string | null;
  /** Visits by people since the link was created. New visits appear within two seconds, or within a minute under heavy load. */
  visits: number;
  qr: QrCodes;
  /** Send it as `Authorization: Bearer` to change or withdraw the link, or to see all of its data. Anyone who has it can do so. */
  manage_key: string;
};

export type ProblemReason =
  | "code.character"
  | "code.ill-formed"
  | "code.invisible"
  | "code.joiner"
  | "code.mark"
  | "code.reserved"
  | "code.space"
  | "code.taken"
  | "code.too-long"
  | "domain.unknown"
  | "target.backslash"
  | "target.blocked"
  | "target.chain"
  | "target.control"
  | "target.credentials"
  | "target.ill-formed"
  | "target.own"
  | "target.path-in-host"
  | "target.private"
  | "target.scheme"
  | "target.space"
  | "target.too-long"
  | "target.unparsable"
  | "expires_at.before-start"
  | "expires_at.format"
  | "expires_at.past"
  | "forward_path.anonymous"
  | "max_visits.range"
  | "owner.name"
  | "password.length"
  | "starts_at.started"
  | "starts_at.format"
  | "starts_at.past"
  | "title.character"
  | "title.length"
  | "batch.length"
  | "body.array"
  | "body.coding"
  | "body.encoding"
  | "body.form"
  | "body.interrupted"
  | "body.json"
  | "body.nesting"
  | "body.object"
  | "body.too-large"
  | "body.type"
  | "body.values"
  | "field.fixed"
  | "field.required"
  | "field.type"
  | "field.unknown"
  | "field.values"
  | "query.colour"
  | "query.date"
  | "query.range"
  | "query.zone"
  | "qr.contrast"
  | "stats.order"
  | "stats.range"
  | "note.ill-formed"
  | "note.too-long"
  | "cross-site"
  | "link.disabled"
  | "link.expired"
  | "link.prefetch"
  | "link.unknown"
  | "link.used-up"
  | "link.withdrawn"
  | "edits.closed"
  | "key.missing"
  | "key.wrong"
  | "owner.other"
  | "precondition.failed"
  | "idempotency.format"
  | "idempotency.reused"
  | "limit.create"
  | "limit.password"
  | "limit.report"
  | "limit.token"
  | "limit.unknown"
  | "limit.view"
  | "method"
  | "password.missing"
  | "password.wrong"
  | "route.unknown"
  | "token.missing"
  | "token.wrong"
  | "user.missing"
  | "user.wrong"
  | "internal"
  | "overloaded"
  | "store.unavailable"
  | "action.unknown"
  | "decision.final"
  | "decision.superseded"
  | "decision.undone"
  | "decision.unknown"
  | "host.invalid"
  | "host.own"
  | "host.suffix"
  | "host.too-many"
  | "operator.confirm"
  | "operator.count"
  | "operator.missing"
  | "operator.no-case"
  | "operator.too-many"
  | "operator.wrong"
  | "precondition.required"
  | "reason.unknown";

export type ProblemDetail = {
  /** The field or parameter; `null` if the problem concerns no particular one. */
  field: string | null;
  reason: ProblemReason;
  message: string;
};

export type LinkResult = {
  /** The status code that a request for this link alone would return. */
  status_code: number;
  /** `success` if the link was created. */
  status: "success" | "error";
  /** The result for the link, for people to read. */
  message: string;
  /** The link; present only if it was created. */
  data?: ManagedLink | undefined;
  /** Every problem found, one by one. */
  errors?: ProblemDetail[] | undefined;
  /** Seconds to wait before retrying; present only with 429 and 503. */
  retry_after?: number | undefined;
};

export type Link = {
  /** As stored: in NFC, without U+FE0F. */
  code: string;
  /** The short address, with the code in readable Unicode. */
  short_url: string;
  /** The short address in ASCII. */
  ascii_url: string;
  /** The destination, exactly as sent. `null` if the link has a password and the request has no manage key. */
  target: string | null;
  /** When the link was created. */
  created_at: string;
  /** When the link ends or ended; `null` if it never ends. */
  expires_at: string | null;
  /** When the link starts or started; `null` if it started on creation. */
  starts_at: string | null;
  /** How many visits the link allows; `null` if there is no limit. */
  max_visits: number | null;
  /** Whether visitors must enter a password. */
  has_password: boolean;
  /** Whether the query of each visit is appended to the destination. */
  forward_query: boolean;
  /** Whether the path after the code of each visit goes to the destination. */
  forward_path: boolean;
  /** The link's purpose; `null` if it has no title. Only requests with the manage key and people whom the proxy names get it. */
  title?: string | null | undefined;
  /** How many of these visits have been used; `null` if there is no limit, or if the request has no manage key. */
  visits_used: number | null;
  /** The creator's name, if they used a token with a name or were signed in. Only requests with the manage key get it. */
  created_by?: string | undefined;
  /** The person whose link it is. Only requests with the manage key and people whom the proxy names get it. */
  owner?: string | undefined;
  /** `scheduled`: not started yet; `used_up`: its visit limit is reached; `withdrawn`: withdrawn by its maker; `disabled`: see `disabled_reason`. */
  state: LinkState;
  /** Why the link does not work although it may not have expired: the operator's reason for disabling it or blocking its host, or `blocklist` if its host is on a blocklist. `null` if it works. */
  disabled_reason: DisabledReason | null;
  /** When the destination was last changed; `null` if never. */
  changed_at: string | null;
  /** Visits by people since the link was created. New visits appear within two seconds, or within a minute under heavy load. */
  visits: number;
  qr: QrCodes;
};

export type LinkChange = {
  /** The new destination. */
  target?: string | undefined;
  /** The person who gets the link: the name that the proxy sends. Earlier manage keys no longer open it. */
  owner?: string | undefined;
  /** When the link ends, in the same format as for a new link. `null`: never. */
  expires_at?: string | null | undefined;
  /** When the link starts, in the same format as for a new link. `null`: now. Cannot be changed after the start. */
  starts_at?: string | null | undefined;
  /** How many visits the link allows, including those already counted. `null`: no limit. */
  max_visits?: number | null | undefined;
  /** The new password. `null`: none. */
  password?: string | null | undefined;
  /** Whether the query of each visit is appended to the destination. `null`: no. */
  forward_query?: boolean | null | undefined;
  /** Whether the path after the code of each visit goes to the destination. `null`: no. */
  forward_path?: boolean | null | undefined;
  /** The link's purpose, in one line. `null`: no title. */
  title?: string | null | undefined;
};

export type Availability = {
  /** As stored: in NFC, without U+FE0F. */
  code: string;
  /** Whether a link can be created with this code now. */
  available: boolean;
  /** If the code is taken, up to three similar codes that are available. */
  free: string[];
  /** The short address that a link with this code would have, with the code as requested. */
  short_url: string;
};

export type Interval = "hour" | "day" | "month";

export type SeriesPoint = {
  /** A timestamp, a date or a month, depending on `interval`. */
  start: string;
  /** Visits by people. */
  visits: number;
  /** Visits by bots: crawlers, link previews, and browsers that prefetch or load something other than a page. */
  bots: number;
};

export type BreakdownValue = {
  /** `null` if unknown. */
  value: string | null;
  /** Visits with this value. Without the manage key, a public service counts only days (UTC) that are over, each with a random offset. */
  visits: number;
};

export type Breakdown = {
  values: BreakdownValue[];
  /** Visits with any other value. Without the manage key, a public service also adds values with fewer than 5 visits on a day. */
  other: number;
};

export type Statistics = {
  /** As stored: in NFC, without U+FE0F. */
  code: string;
  /** The first day. */
  from: string;
  /** The last day. */
  to: string;
  /** As requested, or the default. */
  interval: Interval;
  /** As requested, or the default. */
  tz: string;
  /** Visits by people in the range. */
  visits: number;
  /** Visits by bots in the range. */
  bots: number;
  /** An estimate: the sum of the visitors of each day (UTC). A person who visits on two days counts twice. Without the manage key, a public service counts only days that are over, each with a random offset; `null` if there are none. */
  visitors: number | null;
  series: SeriesPoint[];
  referrers: Breakdown;
  countries: Breakdown;
  browsers: Breakdown;
  operating_systems: Breakdown;
  devices: Breakdown;
  languages: Breakdown;
};

export type Reason = "malware" | "phishing" | "spam" | "illegal" | "legal" | "other";

export type ReportRequest = {
  /** Why the link is reported: `malware`, `phishing`, `spam`, `illegal`, `legal` (it violates someone's rights) or `other`. */
  reason: Reason;
  /** Details for the operator. Its length is counted in code points. */
  note?: string | null | undefined;
};

export type Report = {
  /** As stored: in NFC, without U+FE0F. */
  code: string;
  /** The reason, as sent. */
  reason: Reason;
};
