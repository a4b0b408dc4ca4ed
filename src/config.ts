import { type Network, parseNetwork } from "./guard/client-address.ts";
import { DURATIONS, type Expiry } from "./links/expiry.ts";
import { isPrivateHost, type Posture } from "./links/target.ts";

export interface Config {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** The public origin, without a trailing slash. */
  readonly baseUrl: string;
  /** Other host names that reach this service, in URL form. */
  readonly aliases: readonly string[];
  readonly posture: Posture;
  readonly database: { readonly engine: "sqlite"; readonly path: string };
  /** Where visits wait on their way to the database. */
  readonly journalFolder: string;
  readonly statsKeepDays: number;
  readonly defaultExpiry: Expiry;
  readonly codeLength: number;
  readonly codeHoldMs: number;
  /** Serving processes; with more than one, another supervises them. */
  readonly processes: number;
  readonly cacheSeconds: number;
  /** Proxies whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly Network[];
  /** The header in which a trusted proxy says the visitor's country, in lower case. */
  readonly countryHeader: string | null;
  /** A path; undefined for the one that comes with the program. */
  readonly countryDatabase: string | undefined;
  /** How to reach the operator: a URI. */
  readonly contact: string | undefined;
  readonly drainWaitMs: number;
  readonly logLevel: LogLevel;
}

const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

/** Every setting: its default as documented, and what it means. `curt --help` prints this table. */
export const SETTINGS = {
  HOST: { default: "127.0.0.1", meaning: "address to listen on" },
  PORT: { default: "3000", meaning: "port to listen on" },
  BASE_URL: { default: "http://localhost:$PORT", meaning: "public origin that short addresses begin with" },
  ALIASES: { default: "none", meaning: "other host names that reach this service, separated by commas" },
  POSTURE: { default: "auto", meaning: "public, private, or auto: taken from the host of BASE_URL" },
  DATABASE_URL: { default: "sqlite:./data/curt.db", meaning: "where links are kept" },
  DEFAULT_EXPIRY: { default: "never", meaning: "never, 24h, 48h, 1week or 1month" },
  CODE_LENGTH: { default: "7", meaning: "characters of a generated code, 4 to 32" },
  CODE_HOLD: { default: "30d", meaning: "how long the code of an ended link stays held" },
  STATS_KEEP: { default: "400d", meaning: "how long statistics are told by day, 8d to 3650d" },
  PROCESSES: { default: "1", meaning: "serving processes that share the port and the store, 1 to 64" },
  CACHE_SECONDS: { default: "0", meaning: "how long a shared cache may keep a redirect" },
  TRUSTED_PROXIES: {
    default: "none",
    meaning: "addresses and networks (CIDR), separated by commas, whose X-Forwarded-For is believed",
  },
  COUNTRY_DATABASE: {
    default: "embedded",
    meaning: "file in MaxMind's format that tells countries of addresses",
  },
  COUNTRY_HEADER: {
    default: "none",
    meaning: "header in which a trusted proxy says the visitor's country, such as CF-IPCountry",
  },
  CONTACT: {
    default: "none",
    meaning: "e-mail address or https:// page for security reports; publishes /.well-known/security.txt",
  },
  DRAIN_WAIT: {
    default: "0s",
    meaning: "after SIGTERM, how long /readyz says 503 before connections are refused",
  },
  LOG_LEVEL: { default: "info", meaning: LOG_LEVELS.join(", ") },
} as const;

type Setting = keyof typeof SETTINGS;
type Environment = Readonly<Record<string, string | undefined>>;

/** Every mistake of an environment at once, each naming its setting, the value and what would be right. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  constructor(readonly mistakes: readonly string[]) {
    super(mistakes.join("\n"));
  }
}

/** Reads the settings; an unset or empty one takes its default. Throws {@link ConfigError}. */
export function readConfig(env: Environment): Config {
  const mistakes: string[] = [];

  /** `parse` returns undefined for a value it does not take; `right` says what it would take. */
  function read<T>(
    name: Setting,
    fallback: string,
    right: string,
    parse: (text: string) => T | undefined,
  ): T {
    const text = env[name]?.trim() || fallback;
    const value = parse(text);
    if (value === undefined) mistakes.push(`${name} must be ${right}, not ${JSON.stringify(text)}`);
    // With a mistake this never leaves the function: readConfig throws.
    return value as T;
  }
  /** Each wrong entry of a list that may be long is a mistake of its own. */
  function readNetworks(): Network[] {
    return entries(env["TRUSTED_PROXIES"] ?? "").flatMap((entry) => {
      const network = parseNetwork(entry);
      if (network === undefined)
        mistakes.push(
          `TRUSTED_PROXIES must be addresses and networks separated by commas, such as 10.0.0.0/8,2001:db8::1, not ${JSON.stringify(entry)}`,
        );
      return network ?? [];
    });
  }
  const oneOf =
    <T extends string>(values: readonly T[]) =>
    (text: string) =>
      values.find((value) => value === text);

  const port = read("PORT", SETTINGS.PORT.default, "a whole number from 0 to 65535", (text) =>
    whole(text, 0, 65_535),
  );
  if (port === 0 && !env["BASE_URL"]?.trim())
    mistakes.push("BASE_URL must be set when PORT is 0: the port is not known yet");
  const baseUrl = read(
    "BASE_URL",
    `http://localhost:${port ?? 3000}`,
    "an http:// or https:// origin without path, query, fragment or credentials, such as https://go.example.com",
    parseOrigin,
  );
  const posture = read(
    "POSTURE",
    SETTINGS.POSTURE.default,
    "auto, public or private",
    oneOf<Posture | "auto">(["auto", "public", "private"]),
  );
  const database = read(
    "DATABASE_URL",
    SETTINGS.DATABASE_URL.default,
    "sqlite:<path of a file>",
    parseDatabaseUrl,
  );
  const trustedProxies = readNetworks();
  const countryHeader = read(
    "COUNTRY_HEADER",
    "",
    "the name of a header, such as CF-IPCountry",
    parseHeaderName,
  );
  if (countryHeader && !env["TRUSTED_PROXIES"]?.trim())
    mistakes.push("COUNTRY_HEADER is believed from trusted proxies only: set TRUSTED_PROXIES, too");
  const config: Config = {
    host: read("HOST", SETTINGS.HOST.default, "a host name or address", (text) =>
      /[\s/[\]]/.test(text) ? undefined : text,
    ),
    port,
    baseUrl: baseUrl && writtenOrigin(baseUrl, env["BASE_URL"]),
    aliases: read(
      "ALIASES",
      "",
      "host names separated by commas, such as curt.example,www.curt.example",
      parseHosts,
    ),
    posture:
      posture === "auto" ? (baseUrl && isPrivateHost(baseUrl.hostname) ? "private" : "public") : posture,
    database,
    journalFolder: `${database?.path}-visits`,
    statsKeepDays: read(
      "STATS_KEEP",
      SETTINGS.STATS_KEEP.default,
      "a time in days from 8d to 3650d",
      (text) => whole(/^(\d{1,4})d$/.exec(text)?.[1] ?? "", 8, 3650),
    ),
    defaultExpiry: read(
      "DEFAULT_EXPIRY",
      SETTINGS.DEFAULT_EXPIRY.default,
      `never, ${DURATIONS.join(", ")}`,
      oneOf<Expiry>(["never", ...DURATIONS]),
    ),
    codeLength: read("CODE_LENGTH", SETTINGS.CODE_LENGTH.default, "a whole number from 4 to 32", (text) =>
      whole(text, 4, 32),
    ),
    codeHoldMs: read(
      "CODE_HOLD",
      SETTINGS.CODE_HOLD.default,
      "a time such as 30d, 12h or 0s, at most 36500d",
      (text) => duration(text, 36_500 * 86_400_000),
    ),
    processes: read("PROCESSES", SETTINGS.PROCESSES.default, "a whole number from 1 to 64", (text) =>
      whole(text, 1, 64),
    ),
    cacheSeconds: read(
      "CACHE_SECONDS",
      SETTINGS.CACHE_SECONDS.default,
      "a whole number of seconds from 0 to 86400",
      (text) => whole(text, 0, 86_400),
    ),
    trustedProxies,
    countryHeader,
    countryDatabase: read("COUNTRY_DATABASE", SETTINGS.COUNTRY_DATABASE.default, "a file", (text) => ({
      path: text === SETTINGS.COUNTRY_DATABASE.default ? undefined : text,
    })).path,
    contact: read("CONTACT", "", "an e-mail address or an https:// address", parseContact)?.uri,
    drainWaitMs: read("DRAIN_WAIT", SETTINGS.DRAIN_WAIT.default, "a time such as 5s, at most 5m", (text) =>
      duration(text, 300_000),
    ),
    logLevel: read("LOG_LEVEL", SETTINGS.LOG_LEVEL.default, LOG_LEVELS.join(", "), oneOf(LOG_LEVELS)),
  };
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return config;
}

function whole(text: string, min: number, max: number): number | undefined {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  return number >= min && number <= max ? number : undefined;
}

const UNITS_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function duration(text: string, maxMs: number): number | undefined {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const ms = Number(count) * (UNITS_MS[unit ?? ""] ?? Number.NaN);
  return ms <= maxMs ? ms : undefined;
}

function parseOrigin(text: string): URL | undefined {
  if (!/^https?:\/\/[^/\\?#@\s]+\/?$/i.test(text)) return undefined;
  return URL.parse(text) ?? undefined;
}

/** The origin with its host as the operator writes it, where that is more readable than its ASCII form. */
function writtenOrigin(url: URL, written = ""): string {
  const [, host = ""] = /^https?:\/\/([^/:]+)/i.exec(written.trim()) ?? [];
  const isReadable = /[^\x21-\x7E]/.test(host);
  return isReadable ? `${url.protocol}//${host}${url.port === "" ? "" : `:${url.port}`}` : url.origin;
}

function entries(list: string): string[] {
  return list
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}

function parseHosts(text: string): string[] | undefined {
  const hosts = entries(text).map((host) =>
    /^[^/\\?#@\s]+$/.test(host) ? URL.parse(`http://${host}`)?.hostname : undefined,
  );
  return hosts.every((host) => host !== undefined) ? hosts : undefined;
}

/** A field name is a token (RFC 9110, sections 5.1 and 5.6.2). */
function parseHeaderName(text: string): string | null | undefined {
  if (text === "") return null;
  return /^[\w!#$%&'*+.^`|~-]{1,64}$/.test(text) ? text.toLowerCase() : undefined;
}

/** RFC 9116, section 2.5.3: a URI; of web addresses only secure ones. */
function parseContact(text: string): { uri: string | undefined } | undefined {
  if (text === "") return { uri: undefined };
  const uri = /^[^\s@:/?#]+@[^\s@:/?#]+$/.test(text) ? `mailto:${text}` : text;
  return /^(?:mailto:[^\s@]+@|https:\/\/)[\x21-\x7E]+$/.test(uri) ? { uri } : undefined;
}

function parseDatabaseUrl(text: string): Config["database"] | undefined {
  const [, path] = /^sqlite:(?:\/\/(?=\/))?(.+)$/.exec(text) ?? [];
  return path === undefined || path.includes("\0") || path.startsWith(":") || /[?#]/.test(path)
    ? undefined
    : { engine: "sqlite", path };
}
