import type { CodeCase } from "../links/code.ts";
import { DURATIONS, type Expiry } from "../links/time.ts";
import { ACCESS_SETTINGS } from "./access-settings.ts";
import { IDENTITY_SETTINGS } from "./branding-settings.ts";
import { EVENT_SETTINGS } from "./event-settings.ts";
import {
  days,
  duration,
  fileOrSecureUrl,
  type Format,
  host,
  hostOfUrl,
  listOf,
  network,
  oneOf,
  orAuto,
  origin,
  path,
  secret,
  wholeNumber,
  type Setting,
  limit,
  hostAndPort,
} from "./setting-formats.ts";
import { STORAGE_SETTINGS } from "./store-settings.ts";

const NETWORK_SETTINGS = {
  host: {
    name: "HOST",
    default: "localhost",
    meaning:
      "address to listen on: localhost is 127.0.0.1 and ::1, 0.0.0.0 is every IPv4 address, :: is every address",
    takes: host,
  },
  port: {
    name: "PORT",
    default: "auto",
    meaning: "port to listen on; auto is 3000, or 443 with TLS_CERT; 0 picks a free port and needs BASE_URL",
    takes: orAuto(wholeNumber(0, 65_535)),
  },
  baseUrl: {
    name: "BASE_URL",
    default: "http://localhost:$PORT",
    unset: null,
    meaning: "public origin of the short addresses, such as https://go.example.com",
    takes: origin,
  },
  aliases: {
    name: "ALIASES",
    default: "none",
    unset: [],
    meaning:
      "other host names of this service, separated by commas; links to them are refused, because they would loop",
    takes: listOf(hostOfUrl),
  },
  domains: {
    name: "DOMAINS",
    default: "none",
    unset: [],
    meaning:
      "further origins of short addresses, separated by commas, such as https://한글.example; each has its own codes, chosen by the Host header",
    takes: listOf(origin),
  },
  tlsCert: {
    name: "TLS_CERT",
    default: "none",
    unset: null,
    meaning: "PEM file with a certificate and its chain; Curt then serves HTTPS without a proxy",
    takes: path,
  },
  tlsKey: {
    name: "TLS_KEY",
    default: "none",
    unset: null,
    meaning: "PEM file with the key of the certificate in TLS_CERT",
    takes: path,
  },
  trustedProxies: {
    name: "TRUSTED_PROXIES",
    default: "none",
    unset: [],
    meaning:
      "addresses and networks of proxies whose X-Forwarded-For is trusted, such as 10.0.0.0/8, separated by commas",
    takes: listOf(network),
  },
  cacheSeconds: {
    name: "CACHE_SECONDS",
    default: "0",
    meaning:
      "how long shared caches may keep a redirect or a QR code, in seconds; never past the link's expiry",
    takes: wholeNumber(0, 86_400, "seconds"),
  },
} satisfies Record<string, Setting>;

const POSTURE_SETTINGS = {
  posture: {
    name: "POSTURE",
    default: "auto",
    meaning:
      "who can reach this service: public limits clients and refuses destinations in private networks and at other URL shorteners, private does neither, and auto depends on the host of BASE_URL; EDITS and STATS_SHOWN follow it unless they are set",
    takes: oneOf("auto", "public", "private"),
  },
  limitCreate: {
    name: "LIMIT_CREATE",
    default: "auto",
    meaning:
      "how often a client may create a link or change a destination, such as 30/1m,1000/1d, or off; auto is 30/1m,1000/1d in public posture and off in private posture",
    takes: orAuto(limit),
  },
  limitUnknown: {
    name: "LIMIT_UNKNOWN",
    default: "auto",
    meaning:
      "how often a client may request an unknown address, or off; auto is 60/1m in public posture and off in private posture",
    takes: orAuto(limit),
  },
  limitView: {
    name: "LIMIT_VIEW",
    default: "auto",
    meaning:
      "how often a client may send a request that costs more than a redirect and creates no link, or off; auto is 120/1m in public posture and off in private posture",
    takes: orAuto(limit),
  },
  limitReport: {
    name: "LIMIT_REPORT",
    default: "10/1h",
    meaning: "how often a client may report a link, or off",
    takes: limit,
  },
  limitPasswords: {
    name: "LIMIT_PASSWORDS",
    default: "10/1h",
    meaning:
      "how often a client may enter a wrong password, or off; ten times as many may be tried for one link by all clients together",
    takes: limit,
  },
  edits: {
    name: "EDITS",
    default: "auto",
    meaning:
      "whether makers may change the destinations of their links: on, off, or 24h for the first day of a link; auto is 24h in public posture and on in private posture; makers may always withdraw their links",
    takes: oneOf("auto", "on", "24h", "off"),
  },
  origins: {
    name: "ORIGINS",
    default: "none",
    unset: [],
    meaning:
      "origins whose pages may use the API in private posture without CREATE_TOKEN, separated by commas, such as https://wiki.internal; otherwise, pages of every origin may",
    takes: listOf(origin),
  },
  statsShown: {
    name: "STATS_SHOWN",
    default: "auto",
    meaning:
      "what anyone sees of a link's statistics: safe adds noise to all but totals, all is exact and live, count is only totals; auto is safe in public posture and all in private posture",
    takes: oneOf("auto", "safe", "all", "count"),
  },
} satisfies Record<string, Setting>;

const LINK_SETTINGS = {
  defaultExpiry: {
    name: "DEFAULT_EXPIRY",
    default: "never",
    meaning: "expiry of links created without one: never, 24h, 48h, 1week or 1month",
    takes: oneOf<Expiry>("never", ...DURATIONS),
  },
  codeLength: {
    name: "CODE_LENGTH",
    default: "auto",
    meaning: "length of generated codes, 4 to 32 characters; auto is 7, or 8 with CODE_CASE=ignore",
    takes: orAuto(wholeNumber(4, 32)),
  },
  codeCase: {
    name: "CODE_CASE",
    default: "match",
    meaning:
      "whether an address finds a link only in the capitals of its code: match, or ignore for any capitals; chosen before the first link, because the store keeps it",
    takes: oneOf<CodeCase>("match", "ignore"),
  },
  codeHoldMs: {
    name: "CODE_HOLD",
    default: "30d",
    meaning: "how long a code can't be reused after its link has expired",
    takes: duration("30d, 12h or 0s", "36500d"),
  },
  statsKeepDays: {
    name: "STATS_KEEP",
    default: "400d",
    meaning: "how long daily statistics are kept, 8d to 3650d; older days are added to one total per link",
    takes: days(8, 3650),
  },
  countryDatabase: {
    name: "COUNTRY_DATABASE",
    default: "embedded",
    unset: null,
    meaning: "file in MaxMind's format (.mmdb) that maps IP addresses to countries",
    takes: path,
  },
  interstitial: {
    name: "INTERSTITIAL",
    default: "off",
    meaning:
      "whether people see the preview of a link before its redirect: all for every link, or off; bots are redirected immediately",
    takes: oneOf("off", "all"),
  },
} satisfies Record<string, Setting>;

const MODERATION_SETTINGS = {
  ...ACCESS_SETTINGS,
  secret: {
    name: "CURT_SECRET",
    default: "none",
    unset: null,
    meaning:
      "secret of 32 characters or more from which manage keys are computed, the same for all instances; without it, the first start creates one in the database; changing it invalidates all keys",
    takes: secret(32),
  },
  blocklist: {
    name: "BLOCKLIST",
    default: "none",
    unset: [],
    meaning:
      "lists of hosts and addresses to refuse as destinations: files and https:// addresses, separated by commas; addresses are fetched every hour",
    takes: listOf(fileOrSecureUrl),
  },
  reportThreshold: {
    name: "REPORT_THRESHOLD",
    default: "off",
    unset: null,
    meaning:
      "number of independent reports, 1 to 10000, that disable a link until the operator decides; off never disables one",
    takes: wholeNumber(1, 10_000),
  },
} satisfies Record<string, Setting>;

const OPERATION_SETTINGS = {
  processes: {
    name: "PROCESSES",
    default: "1",
    meaning: "number of serving processes, 1 to 64; they share the port and the store",
    takes: wholeNumber(1, 64),
  },
  metrics: {
    name: "METRICS_PORT",
    default: "off",
    unset: null,
    meaning:
      "port of GET /metrics for Prometheus, on 127.0.0.1 or on the address before it, such as 10.0.0.5:9464; anyone who can reach it can read the metrics; 0 picks a free port",
    takes: hostAndPort,
  },
  drainWaitMs: {
    name: "DRAIN_WAIT",
    default: "0s",
    meaning: "how long /readyz answers 503 after SIGTERM before Curt refuses new connections",
    takes: duration("5s", "5m"),
  },
  logLevel: {
    name: "LOG_LEVEL",
    default: "info",
    meaning: "least severe lines to log: debug, info, warn or error",
    takes: oneOf("debug", "info", "warn", "error"),
  },
} satisfies Record<string, Setting>;

/** All settings. The keys are their names in `Config`. */
export const SETTINGS = {
  ...NETWORK_SETTINGS,
  ...POSTURE_SETTINGS,
  ...LINK_SETTINGS,
  ...MODERATION_SETTINGS,
  ...IDENTITY_SETTINGS,
  ...EVENT_SETTINGS,
  ...STORAGE_SETTINGS,
  ...OPERATION_SETTINGS,
};

/** For the help, by task, as in docs/settings.md. */
export const SETTING_GROUPS: Readonly<Record<string, Readonly<Record<string, Setting>>>> = {
  "Address and network": NETWORK_SETTINGS,
  "Public or private": POSTURE_SETTINGS,
  "Links and statistics": LINK_SETTINGS,
  "Moderation and secrets": MODERATION_SETTINGS,
  "Appearance and contact": IDENTITY_SETTINGS,
  Events: EVENT_SETTINGS,
  "Storage and backups": STORAGE_SETTINGS,
  "Processes and monitoring": OPERATION_SETTINGS,
};

type Value<S extends Setting> =
  S["takes"] extends Format<infer T> ? (S extends { unset: null } ? T | null : T) : never;

/** Settings that are secrets. */
export type SecretKey = {
  [Key in keyof typeof SETTINGS]: (typeof SETTINGS)[Key]["takes"] extends { readonly isSecret: true }
    ? Key
    : never;
}[keyof typeof SETTINGS];

export type Values = { readonly [Key in keyof typeof SETTINGS]: Value<(typeof SETTINGS)[Key]> };
