import { type Network, parseNetwork } from "../lib/client-address.ts";
import { canonicalHost } from "../links/target.ts";
import { DAY_MS, HOUR_MS } from "../links/time.ts";

/** In characters. Every visit of the home sends it. */
const MAX_URL_LENGTH = 2000;

/** How to parse the text of a setting, and how error messages describe what it must be. */
export interface Format<T> {
  /** Completes "PORT must be …". */
  readonly right: string;
  /** Returns undefined if the text is wrong. */
  parse(text: string): T | undefined;
  /** For lists: the wrong entries, so that each is reported by itself. */
  wrongParts?(text: string): string[];
  /** Why the text is wrong, if `right` does not say it. */
  reason?(text: string): string | undefined;
}

/** Its texts stay out of messages, and its values in the parts that check them. */
export interface SecretFormat<T> extends Format<T> {
  readonly isSecret: true;
}

export function oneOf<const T extends string>(...values: readonly T[]): Format<T> {
  return {
    right: `${values.slice(0, -1).join(", ")} or ${values.at(-1)}`,
    parse: (text) => values.find((value) => value === text),
  };
}

export function wholeNumber(min: number, max: number, unit = ""): Format<number> {
  return {
    right: `a whole number ${unit && `of ${unit} `}from ${min} to ${max}`,
    parse: (text) => parseWhole(text, min, max),
  };
}

/** A number of days. */
export function days(min: number, max: number): Format<number> {
  return {
    right: `a time in days from ${min}d to ${max}d`,
    parse: (text) => parseWhole(/^(\d+)d$/.exec(text)?.[1] ?? "", min, max),
  };
}

const UNITS_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: HOUR_MS, d: DAY_MS };

/** A duration in milliseconds. */
export function duration(examples: string, max: string): Format<number> {
  return {
    right: `a time such as ${examples}, at most ${max}`,
    parse(text) {
      const ms = parseDuration(text);
      return ms <= parseDuration(max) ? ms : undefined;
    },
  };
}

/** Entries separated by commas. Empty entries are ignored. */
export function listOf<T>({ right, parse }: Format<T>): Format<readonly T[]> {
  const entriesOf = (text: string) =>
    text
      .split(",")
      .map((entry) => entry.trim())
      .filter((entry) => entry !== "");
  return {
    right,
    parse(text) {
      const values = entriesOf(text).map(parse);
      return values.every((value) => value !== undefined) ? values : undefined;
    },
    wrongParts: (text) => entriesOf(text).filter((entry) => parse(entry) === undefined),
  };
}

/** Text that pages show. */
export function words(maxLength: number): Format<string> {
  return {
    right: `a text of at most ${maxLength} characters`,
    parse: (text) =>
      text.length <= maxLength && text.isWellFormed() && !/[\p{Cc}\p{Bidi_C}]/u.test(text) ? text : undefined,
  };
}

export const path: Format<string> = { right: "a path", parse: (text) => text };

export const host: Format<string> = {
  right: "a host name or address",
  parse: (text) => (/[\s/[\]]/.test(text) ? undefined : text),
};

/** Where to listen. An IPv6 address stands in brackets, and no address is 127.0.0.1. */
export const hostAndPort: Format<{ readonly host: string; readonly port: number }> = {
  right: "a port from 0 to 65535, or an address and a port, such as 10.0.0.5:9464 or [::1]:9464",
  parse(text) {
    const [, bracketed, plain = "127.0.0.1", digits = ""] =
      /^(?:(?:\[([^[\]\s]+)\]|([^:/[\]\s]+)):)?(\d+)$/.exec(text) ?? [];
    const port = parseWhole(digits, 0, 65_535);
    return port === undefined ? undefined : { host: bracketed ?? plain, port };
  },
};

/** A host as in `URL.hostname`: lower case, other scripts in punycode. A port is accepted and ignored. */
export const hostOfUrl: Format<string> = {
  right: "host names separated by commas, such as curt.example,www.curt.example",
  parse: (text) => (/^[^/\\?#@\s]+$/.test(text) ? URL.parse(`http://${text}`)?.hostname : undefined),
};

/** An origin without a trailing slash. A host in another script is not turned into punycode, so people can read it. */
export const origin: Format<string> = {
  right:
    "an http:// or https:// origin without path, query, fragment or credentials, such as https://go.example.com",
  parse(text) {
    const [, written = ""] = /^https?:\/\/([^/\\?#@\s]+)\/?$/i.exec(text) ?? [];
    const url = written === "" ? null : URL.parse(text);
    if (url === null) return undefined;
    const [hostName = ""] = written.split(":", 1);
    if (!/[^\x21-\x7E]/.test(hostName)) return url.origin;
    return `${url.protocol}//${hostName}${url.port === "" ? "" : `:${url.port}`}`;
  },
};

/** An address for one host, as in `URL.hostname`, or for all that no other entry names. */
export const homeUrl: Format<{ readonly host: string | undefined; readonly url: string }> = {
  right:
    "http:// or https:// addresses without credentials separated by commas, each alone or as host=address, such as https://www.example.com",
  parse(text) {
    const [, named, written = ""] = /^(?:([^=/\\?#@\s]+)=)?(https?:\/\/[^\s/\\][^\s\\]*)$/i.exec(text) ?? [];
    const hostName = named === undefined ? undefined : hostOfUrl.parse(named);
    const url = written.length > MAX_URL_LENGTH ? null : URL.parse(written);
    if (url === null || url.username !== "" || url.password !== "") return undefined;
    return named !== undefined && hostName === undefined
      ? undefined
      : { host: hostName && canonicalHost(hostName), url: url.href };
  },
};

/** A path, or the https address of a file. */
export const fileOrSecureUrl: Format<string> = {
  right: "files and https:// addresses separated by commas",
  parse(text) {
    if (!text.includes("://")) return text;
    const url = /^https:\/\/[^/]/i.test(text) ? URL.parse(text) : null;
    return url === null || url.username !== "" || url.password !== "" ? undefined : url.href;
  },
};

export const network: Format<Network> = {
  right: "addresses and networks separated by commas, such as 10.0.0.0/8,2001:db8::1",
  parse: parseNetwork,
};

/** A mailto: or https: URI. RFC 9116, section 2.5.3, does not allow http:. */
export const contact: Format<string> = {
  right: "an e-mail address or an https:// address",
  parse(text) {
    const uri = /^[^\s@:/?#]+@[^\s@:/?#]+$/.test(text) ? `mailto:${text}` : text;
    return /^(?:mailto:[^\s@]+@|https:\/\/)[\x21-\x7E]+$/.test(uri) ? uri : undefined;
  },
};

/** A secret of the operator. Messages about a wrong one hide it. */
export function secret(minLength: number): SecretFormat<string> {
  return {
    isSecret: true,
    right: `a secret of ${minLength} to 256 letters, digits and signs without spaces, such as openssl rand -hex 24 prints`,
    parse: (text) => (text.length >= minLength && /^[\x21-\x7E]{1,256}$/.test(text) ? text : undefined),
    wrongParts: (text) => [`(${text.length} characters, ${flawOf(text, minLength)})`],
  };
}

/** Which rule a secret breaks. */
function flawOf(text: string, minLength: number): string {
  if (/[^\x21-\x7E]/.test(text)) return "with a space or another sign";
  return text.length < minLength ? "too few" : "too many";
}

/** Enough for everybody, and times multiplied by it remain exact. */
const MAX_LIMIT = 1_000_000;
export const MAX_WINDOWS = 4;

interface Window {
  readonly count: number;
  readonly ms: number;
}

/** A limit: `off`, which is no window, or some windows. */
export const limit: Format<readonly Window[]> = {
  right: `off, or at most ${MAX_WINDOWS} numbers with a time of 1s to 31d, separated by commas, such as 30/1m,1000/1d`,
  parse(text) {
    if (text === "off") return [];
    const windows = listOf(window).parse(text) ?? [];
    return windows.length > 0 && windows.length <= MAX_WINDOWS ? windows : undefined;
  },
};

const window: Format<Window> = {
  right: "a number and a time, such as 30/1m",
  parse(text) {
    const [written = "", time = ""] = text.split("/");
    const count = parseWhole(written, 1, MAX_LIMIT);
    const ms = parseDuration(time);
    const isWindow = count !== undefined && ms >= 1000 && ms <= 31 * DAY_MS;
    return isWindow && text === `${written}/${time}` ? { count, ms } : undefined;
  },
};

/** A setting whose default depends on others. */
export function orAuto<T>({ right, parse }: Format<T>): Format<T | "auto"> {
  return { right: `auto, ${right}`, parse: (text) => (text === "auto" ? text : parse(text)) };
}

function parseWhole(text: string, min: number, max: number): number | undefined {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  return number >= min && number <= max ? number : undefined;
}

/** In milliseconds. NaN if the text is not a duration. */
function parseDuration(text: string): number {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  return Number(count) * (UNITS_MS[unit ?? ""] ?? Number.NaN);
}

/** One environment variable. */
export interface Setting<T = unknown> {
  readonly name: string;
  /** The default as the documentation shows it. If the variable is unset or empty, this text is parsed instead. */
  readonly default: string;
  /** The value if the variable is unset, for settings whose `default` is a description that cannot be parsed. */
  readonly unset?: null | readonly never[];
  /** The text in `curt help settings` and docs/settings.md. */
  readonly meaning: string;
  readonly takes: Format<T>;
}
