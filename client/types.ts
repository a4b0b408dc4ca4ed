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
  /** When the link ends: a time as in RFC 3339, or a duration from now: `24h`, `48h`, `1week` or `1month` (30 days). With `null` it never ends. If omitted, the operator's default applies. */
  expires_at?: string | null | undefined;
  /** When the link starts, written like `expires_at`. Before that, it does not exist for visitors. With `null` or if omitted, it starts immediately. */
  starts_at?: string | null | undefined;
  /** The link ends with this visit. With `null` or if omitted, visits are not limited. */
  max_visits?: number | null | undefined;
  /** Visitors must enter it before the link redirects them. With `null` or if omitted, there is none. */
  password?: string | null | undefined;
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
  /** Where the link leads, exactly as sent. `null` if the link has a password and the request has no manage key. */
  target: string | null;
  /** When the link was created. */
  created_at: string;
  /** When the link starts or started; `null` if that was when it was created. */
  starts_at: string | null;
  /** When the link ends or ended; `null` if it never does. */
  expires_at: string | null;
  /** How many visits the link redirects; `null` if that is not limited. */
  max_visits: number | null;
  /** How many of these visits there have been; `null` if they are not limited, or if the request has no manage key. */
  visits_used: number | null;
  /** Whether visitors must enter a password. */
  has_password: boolean;
  /** `scheduled`: it has not started; `used_up`: it had all its visits; `withdrawn`: its maker ended it; `disabled`: see that field. */
  state: LinkState;
  /** Why the link does not work although it may not have expired: the reason for which the operator disabled it or blocked its host, or `blocklist` if its host is on a blocklist. `null` if it works. */
  disabled_reason: DisabledReason | null;
  /** When its maker last changed where the link leads; `null` if never. */
  changed_at: string | null;
  /** Visits by people since the link was created. A new visit shows up within a second or two, or within a minute under heavy load. */
  visits: number;
  qr: QrCodes;
  /** Send it as `Authorization: Bearer` to change or end the link, or to see more of it. Anyone who has it can do so. */
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
  | "target.backslash"
  | "target.blocked"
  | "target.chain"
  | "target.control"
  | "target.credentials"
  | "target.ill-formed"
  | "target.own"
  | "target.private"
  | "target.scheme"
  | "target.space"
  | "target.too-long"
  | "target.unparsable"
  | "expires_at.before-start"
  | "expires_at.format"
  | "expires_at.past"
  | "max_visits.range"
  | "password.length"
  | "starts_at.started"
  | "starts_at.format"
  | "starts_at.past"
  | "batch.length"
  | "body.array"
  | "body.coding"
  | "body.encoding"
  | "body.form"
  | "body.interrupted"
  | "body.json"
  | "body.object"
  | "body.too-large"
  | "body.type"
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
  | "internal"
  | "overloaded"
  | "store.unavailable"
  | "action.unknown"
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
  | "reason.unknown";

export type ProblemDetail = {
  /** The field or parameter; `null` if none in particular is wrong. */
  field: string | null;
  reason: ProblemReason;
  message: string;
};

export type LinkResult = {
  /** The status that one link alone would be answered with. */
  status_code: number;
  /** `success` if the link was made. */
  status: "success" | "error";
  /** The outcome for the link, for people. */
  message: string;
  /** The link. Only if it was made. */
  data?: ManagedLink | undefined;
  /** Everything that is wrong, one by one. */
  errors?: ProblemDetail[] | undefined;
  /** Seconds to wait before trying again. Only with 429 and 503. */
  retry_after?: number | undefined;
};

export type Link = {
  /** As stored: in NFC, without U+FE0F. */
  code: string;
  /** The short address, with the code in readable Unicode. */
  short_url: string;
  /** The short address in ASCII. */
  ascii_url: string;
  /** Where the link leads, exactly as sent. `null` if the link has a password and the request has no manage key. */
  target: string | null;
  /** When the link was created. */
  created_at: string;
  /** When the link starts or started; `null` if that was when it was created. */
  starts_at: string | null;
  /** When the link ends or ended; `null` if it never does. */
  expires_at: string | null;
  /** How many visits the link redirects; `null` if that is not limited. */
  max_visits: number | null;
  /** How many of these visits there have been; `null` if they are not limited, or if the request has no manage key. */
  visits_used: number | null;
  /** Whether visitors must enter a password. */
  has_password: boolean;
  /** `scheduled`: it has not started; `used_up`: it had all its visits; `withdrawn`: its maker ended it; `disabled`: see that field. */
  state: LinkState;
  /** Why the link does not work although it may not have expired: the reason for which the operator disabled it or blocked its host, or `blocklist` if its host is on a blocklist. `null` if it works. */
  disabled_reason: DisabledReason | null;
  /** When its maker last changed where the link leads; `null` if never. */
  changed_at: string | null;
  /** Visits by people since the link was created. A new visit shows up within a second or two, or within a minute under heavy load. */
  visits: number;
  qr: QrCodes;
};

export type LinkChange = {
  /** Where the link leads from now on. */
  target?: string | undefined;
  /** When the link ends, written as for a new link. `null`: never. */
  expires_at?: string | null | undefined;
  /** When the link starts, written as for a new link. `null`: now. Once it has started, this cannot change. */
  starts_at?: string | null | undefined;
  /** How many visits the link redirects, including those already counted. `null`: not limited. */
  max_visits?: number | null | undefined;
  /** The new password. `null`: none. */
  password?: string | null | undefined;
};

export type Availability = {
  /** As stored: in NFC, without U+FE0F. */
  code: string;
  /** Whether a link can be created with this code now. */
  available: boolean;
  /** If it is taken, up to three codes like it that are not. */
  free: string[];
  /** The short address that a link with this code would have, spelled as requested. */
  short_url: string;
};

export type Interval = "hour" | "day" | "month";

export type SeriesPoint = {
  /** A timestamp, a date or a month, depending on `interval`. */
  start: string;
  /** By people. */
  visits: number;
  /** By programs: crawlers, link previews, and browsers that prefetch or load something other than a page. */
  bots: number;
};

export type BreakdownValue = {
  /** null if unknown. */
  value: string | null;
  /** Visits with this value. Without the manage key, a public service counts only days (UTC) that are over, each with a random offset. */
  visits: number;
};

export type Breakdown = {
  values: BreakdownValue[];
  /** Visits with any other value. Without the manage key, a public service adds values here that had fewer than 5 visits on a day. */
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
  /** By people, in the range. */
  visits: number;
  /** By programs, in the range. */
  bots: number;
  /** An estimate: the visitors of each day (UTC), added up. A person who visits on two days counts twice. Without the manage key, a public service counts only days that are over, each with a random offset, and says null if there are none. */
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
  /** Why the link is reported: `malware`, `phishing`, `spam`, `illegal`, `legal` (it violates somebody's rights) or `other`. */
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
