import { canonicalHost } from "../../links/target.ts";
import { isRegistrySuffix, MAX_HOST_LENGTH, parseHost } from "./domain-name.ts";

/** A rule of a blocklist. */
export interface Rule {
  /** As in `URL.hostname`, in the form of {@link canonicalHost}. */
  readonly host: string;
  /** `tree`: the host and all below it. `below`: all below it. `host`: only the host. `path`: a part of the host. */
  readonly covers: "tree" | "below" | "host" | "path";
  /** With `path`: path and query in the form of {@link plainPath}. Empty otherwise. */
  readonly path: string;
}

/** In characters. Longer rules are skipped, and only this much of a target's path is compared. */
export const MAX_PATH_LENGTH = 1024;

/** Almost all lines: a host as in `URL.hostname`. Parsing it would take far longer. */
const USUAL = /^(?:[a-z0-9_-]{1,63}\.){1,20}[a-z][a-z0-9-]{0,62}$/;
const COMMENT = /^(?:[#!;]|\/\/|\[(?![0-9a-f:.]+\]))/i;
const COMMENT_BEHIND = /\s[#!;].*$/;
const URL_START = /^https?:\/\//i;
/** Addresses to which a hosts file sends blocked names. Its other lines block nothing. */
const NOWHERE = /^(?:0\.0\.0\.0|127\.\d+\.\d+\.\d+|::1?|0)$/;
/** A rule of an ad blocker for a host or for the start of an address. */
const AD_BLOCKER = /^\|\|([^|^$]+)\^?\|?(?:\$(.*))?$/;
/** Rules with any other option are about parts of pages or apply to some sites only. */
const WHOLE_PAGES = new Set(["all", "doc", "document", "important", "popup"]);
const PORT = /^([^:]+|\[.*\]):\d{1,5}$/;
const NETWORK = /^[\d.]+\/\d{1,2}$/;

/** Parses a line. Empty for a comment or an empty line, undefined if it is not understood. */
export function readLine(written: string): readonly Rule[] | undefined {
  const line = written.trim();
  if (USUAL.test(line)) return [{ host: line, covers: "tree", path: "" }];
  if (line === "" || COMMENT.test(line)) return [];
  return only(readRule(line.replace(COMMENT_BEHIND, "").trimEnd()));
}

function readRule(line: string): Rule | readonly Rule[] | undefined {
  if (line.startsWith("||")) return readAdBlocker(line);
  if (line.startsWith('"') || /^\d+,/.test(line)) return readCsv(line);
  if (URL_START.test(line)) return readUrl(line);
  const [address = "", ...hosts] = line.split(/\s+/);
  if (hosts.length > 0)
    return NOWHERE.test(address) ? hosts.flatMap((host) => only(readHost(host)) ?? []) : undefined;
  return readPattern(line);
}

function only(rules: Rule | readonly Rule[] | undefined): readonly Rule[] | undefined {
  return rules !== undefined && "host" in rules ? [rules] : rules;
}

/** A host, everything below a host, or an address without its scheme. */
function readPattern(text: string): Rule | undefined {
  const [host = ""] = text.split("/", 1);
  const rule = readHost(host);
  // Otherwise, the ftp: of ftp://evil.example would count as a host.
  if (rule === undefined || host === text) return rule;
  return NETWORK.test(text) ? undefined : readUrl(`http://${text}`);
}

function readAdBlocker(line: string): Rule | undefined {
  const [, pattern, options] = AD_BLOCKER.exec(line) ?? [];
  const isForPages = options === undefined || options.split(",").every((option) => WHOLE_PAGES.has(option));
  return pattern === undefined || !isForPages ? undefined : readPattern(pattern);
}

/** The first address of the line counts. Later ones are about it. */
function readCsv(line: string): Rule | undefined {
  const fields = line.matchAll(/"((?:[^"]|"")*)"|([^,"]+)/g);
  for (const [, quoted, bare = ""] of fields) {
    const field = quoted?.replaceAll('""', '"') ?? bare;
    if (URL_START.test(field)) return readUrl(field);
  }
  return undefined;
}

function readHost(text: string): Rule | undefined {
  const isBelow = text.startsWith("*.");
  const name = isBelow ? text.slice(2) : text.replace(/^\./, "");
  const host = parseHost(name.replace(PORT, "$1"));
  if (host === undefined) return undefined;
  const isAddress = /^\[|\.\d+$/.test(host);
  // It would stop all links to a top-level domain, most likely by mistake.
  if (isBelow) return isAddress || isRegistrySuffix(host) ? undefined : { host, covers: "below", path: "" };
  // A word, as in a page of HTML. In a hosts file it is the machine itself.
  return host.includes(".") || isAddress ? { host, covers: "tree", path: "" } : undefined;
}

function readUrl(text: string): Rule | undefined {
  const [, authority = ""] = /^[^/]*\/\/([^/?#]*)/.exec(text) ?? [];
  const url = authority.length > MAX_HOST_LENGTH || authority.includes("*") ? null : URL.parse(text);
  if (url === null) return undefined;
  const host = canonicalHost(url.hostname);
  const path = plainPath(url.pathname + url.search);
  if (path.length > MAX_PATH_LENGTH) return undefined;
  return path === "/" ? { host, covers: "host", path: "" } : { host, covers: "path", path };
}

/**
 * Many servers treat `/a`, `//a`, `/%61`, `/%2Fa`, `/%5Ca` and `/b%2F..%2Fa` alike, so none of these may bypass a rule.
 * The result is only for comparison.
 */
export function plainPath(path: string): string {
  const [written = "", ...query] = path.split("?");
  const plain = withoutDots(unescape(written));
  return query.length === 0 ? plain : `${plain}?${unescape(query.join("?"))}`;
}

/** Leaves the escapes of "%" and of characters beyond ASCII. Slashes beside each other become one. */
function unescape(text: string): string {
  const bare = text.includes("%") ? text.replace(/%[0-9a-f]{2}/gi, unescapeOne) : text;
  return bare.includes("//") || bare.includes("\\") ? bare.replace(/[/\\]+/g, "/") : bare;
}

function unescapeOne(escaped: string): string {
  const code = Number.parseInt(escaped.slice(1), 16);
  return code < 0x80 && code !== 0x25 ? String.fromCharCode(code) : escaped.toUpperCase();
}

/** The URL parser has removed the segments "." and ".." unless their slashes were escaped (RFC 3986, section 5.2.4). */
function withoutDots(path: string): string {
  if (!path.includes("/.")) return path;
  const segments: string[] = [];
  for (const segment of path.split("/").slice(1)) {
    if (segment === "..") segments.pop();
    else if (segment !== ".") segments.push(segment);
  }
  return `/${segments.join("/")}`;
}
