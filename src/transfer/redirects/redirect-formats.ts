import type { CodeCase } from "../../links/code.ts";
import { isoInstant, NEVER_MS } from "../../links/time.ts";
import type { LeftOut } from "./live-links.ts";

/** A link in one spelling of its code. */
export interface Entry {
  readonly code: string;
  /** With CODE_CASE=ignore, in small letters. */
  readonly stored: string;
  readonly codeCase: CodeCase;
  readonly spelling: string;
  readonly target: string;
  readonly endsMs: number;
}

/** A domain, which has a file of its own. `nth` is 0 for BASE_URL, which may have other host names. */
export interface Site {
  readonly nth: number;
  readonly origin: string;
  readonly aliases: readonly string[];
}

/** Returns an empty string. */
type LeaveOut = (entry: Entry, why: LeftOut) => "";

export interface Format {
  /** Entries with the same key are written together, because readers of the format confuse their spellings. */
  readonly keyOf?: (spelling: string) => string;
  /** Whether only the stored spelling of a code is an entry. */
  readonly hasOneSpelling?: boolean;
  /** Whether each entry is a page in a folder. `end` is then the page for unknown addresses. */
  readonly isFolder?: boolean;
  /** Links that readers of the format can't hold. */
  readonly limits?: string;
  /** Equal for spellings that readers of a line with CODE_CASE=ignore confuse. */
  fold?(spelling: string, target: string): string;
  /** Which capitals its readers don't find with CODE_CASE=ignore, if any. */
  readonly capitals?: string;
  /** `maxEntries`: of the largest file, if the format has keys. */
  start?(site: Site, figures: { readonly maxEntries: number; readonly nowMs: number }): string;
  /** Returns an empty string if it leaves all out. */
  write(entries: readonly [Entry, ...Entry[]], leaveOut: LeaveOut): string;
  end?(site: Site, codeCase: CodeCase): string;
}

const AS_WRITTEN =
  "With CODE_CASE=ignore, the file finds codes as they were written and in small letters, not in other capitals.";

/** Comments that say when links end. */
function endComments(entries: readonly Entry[], open: string, close = "\n"): string {
  const comment = ({ endsMs }: Entry) =>
    endsMs < NEVER_MS ? `${open} ends ${isoInstant(endsMs)}${close}` : "";
  return entries.map(comment).join("");
}

/** The longest value with its quotes that nginx reads, in bytes. */
export const MAX_VALUE = 4093;

/**
 * `map` ignores the case of ASCII letters. So a lower-cased path leads to the exact paths with their destinations, and a regular
 * expression picks the visitor's. A visitor's path can't pose as such a pair, because it gets there with one slash only.
 */
const nginx: Format = {
  keyOf: lowerCased,
  fold: lowerCased,
  capitals:
    "With CODE_CASE=ignore, nginx finds A to Z in any capitals, but other letters only as written, in small letters, with a capital at the start, or in capitals.",
  start: ({ nth }, { maxEntries }) => String.raw`${
    nth > 0
      ? "# Include this file in http {}, after that of BASE_URL."
      : `# Include this file in http {}. For HTTPS, add your certificate to its server block.
map_hash_bucket_size 1024;
map_hash_max_size ${Math.max(2048, maxEntries)};
geo $curt_dollar { default "$"; }
map $uri $curt_path { "~^(/[^/]+)/?\\z" $1; }`
  }
map $curt_path $curt${nth}_links {
`,
  write(entries, leaveOut) {
    const pairs: string[] = [];
    let left = MAX_VALUE;
    for (const entry of entries) {
      // A dollar sign would start a variable here, but not in a key.
      const pair = nginxQuoted(`/${entry.spelling}\t${entry.target}\t`).replaceAll(
        "$",
        () => "${curt_dollar}",
      );
      if (Buffer.byteLength(pair) > left) leaveOut(entry, "links that are too long for nginx");
      else left -= Buffer.byteLength(pairs[pairs.push(pair) - 1] ?? "");
    }
    const key = nginxQuoted(lowerCased(entries[0].spelling));
    return pairs.length === 0 ? "" : `${endComments(entries, "#")}"/${key}" "${pairs.join("")}";\n`;
  },
  end: ({ nth, origin, aliases }, codeCase) => String.raw`}
map "$curt_path	$curt${nth}_links" $curt${nth}_target {
  "${codeCase === "ignore" ? "~*" : "~"}^([^\t]+)\t(?:[^\t]+\t[^\t]+\t)*?\1\t([^\t]+)" $2;
}
server {
  listen 80;
  server_name ${[new URL(origin).hostname, ...aliases].join(" ")};
  merge_slashes off;
  if ($curt${nth}_target = "") { return 404; }
  return 302 $curt${nth}_target;
}
`,
};

function lowerCased(text: string): string {
  const lower = (letters: string) => letters.toLowerCase();
  // Most are ASCII, which takes a fifth of the time.
  return /[^ -~]/.test(text) ? text.replaceAll(/[A-Z]+/g, lower) : lower(text);
}

function nginxQuoted(text: string): string {
  return text.replaceAll(/["\\]/g, String.raw`\$&`);
}

function hasCase(text: string): boolean {
  return text.toUpperCase() !== text.toLowerCase();
}

/** Caddy's name for each character that starts a placeholder or environment variable, or escapes it. */
const PLACEHOLDERS: Readonly<Record<string, string>> = { "{": "{vars.brace}", "\\": "{vars.backslash}" };

/** Of regular expressions. */
const SPECIAL = /[$^*?.+()[\]|]/g;

/** Go's regular expressions fold each character alone. */
function foldEach(text: string): string {
  return Array.from(text, (one) => (one.toLowerCase().length === one.length ? one.toLowerCase() : one)).join(
    "",
  );
}

const hasPlaceholder = (target: string) => /[{\\]/.test(target);

const caddy: Format = {
  fold: (spelling, target) => (hasPlaceholder(target) ? spelling : foldEach(spelling)),
  capitals:
    "With CODE_CASE=ignore, links whose destination has a brace or a backslash are found only as their codes were written, in small letters, with a capital at the start, or in capitals.",
  start: ({ origin, aliases }) => String.raw`# A site of a Caddyfile.
${[origin, ...aliases.map((host) => origin.replace(/[^/]*$/, host))].join(", ")} {
	route {
		vars brace "\{"
		vars backslash ${"`\\`"}
		uri strip_suffix /
		map {path} {target} {
`,
  write([entry], leaveOut) {
    if (/[{}\\]/.test(entry.spelling))
      return leaveOut(entry, "links with a brace or a backslash in their code");
    const target = entry.target.replaceAll(/[{\\]/g, (one) => PLACEHOLDERS[one] ?? "");
    const [path = "", value = ""] = [entry.spelling, target].map((text) =>
      text.replaceAll('"', String.raw`\"`),
    );
    const comments = endComments([entry], "#");
    // Destinations of regular expressions have no placeholders.
    return entry.codeCase === "ignore" && hasCase(path) && !hasPlaceholder(entry.target)
      ? `${comments}"~(?i)^/${path.replaceAll(SPECIAL, String.raw`\$&`)}$" "${value.replaceAll("$", () => "$$")}"\n`
      : `${comments}"/${path}" "${value}"\n`;
  },
  end: () => `			default ""
		}
		@unknown vars {target} ""
		respond @unknown 404
		redir {target} 302
	}
}
`,
};

const netlify: Format = {
  capitals: AS_WRITTEN,
  limits:
    "Cloudflare Pages reads 2,000 rules (two or more per link) of up to 1,000 characters, with https destinations whose path doesn't start with //; Netlify as many as a deploy may have.",
  write([entry], leaveOut) {
    const upper = encodeURIComponent(entry.spelling);
    const lower = upper.replaceAll(/%../g, (escape) => escape.toLowerCase());
    // These hosts compare paths as they are sent, and some with the last slash.
    const paths = [...new Set([upper, lower])].flatMap((path) => [path, `${path}/`]);
    if (/[*:]/.test(entry.spelling)) return leaveOut(entry, "links with * or : in their code");
    return endComments([entry], "#") + paths.map((path) => `/${path} ${entry.target} 302\n`).join("");
  },
};

const ONLY_CASE = "links that differ from others only in the case of their code";
/** Names that Windows refuses, and those of files with rules for Netlify and Cloudflare Pages. */
const NO_FOLDER =
  /^(?:_headers|_redirects|con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)$|[<>:"\\|?*]| $/i;

/** Most file systems take names of up to 255 bytes. */
export function fitsFolder(name: string): boolean {
  return !NO_FOLDER.test(name) && Buffer.byteLength(name) <= 255;
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

const html: Format = {
  capitals: AS_WRITTEN,
  isFolder: true,
  hasOneSpelling: true,
  // As file systems that ignore case and normalization.
  keyOf: (code) => code.toUpperCase().toLowerCase().normalize("NFC"),
  write([entry, ...others], leaveOut) {
    for (const other of others) leaveOut(other, ONLY_CASE);
    if (others.length > 0) return leaveOut(entry, ONLY_CASE);
    if (!fitsFolder(entry.code)) return leaveOut(entry, "links whose code some file systems or hosts refuse");
    const target = entry.target.replaceAll(/[&<>"]/g, (one) => ENTITIES[one] ?? "");
    return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url=${target}">
<link rel="canonical" href="${target}">
<title>${target}</title>
<p>This link leads to <a href="${target}">${target}</a></p>
${endComments([entry], "<!--", " -->\n")}</html>
`;
  },
  end: () => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Not found</title>
<p>There is no link at this address.</p>
</html>
`,
};

/** https://gbv.github.io/beaconspec/beacon.html */
const beacon: Format = {
  capitals: "With CODE_CASE=ignore, the file has codes as they were written, and readers may match capitals.",
  hasOneSpelling: true,
  start: ({ origin }, { nowMs }) =>
    `#FORMAT: BEACON\n#PREFIX: ${origin}/\n#TIMESTAMP: ${isoInstant(nowMs)}\n\n`,
  write([entry], leaveOut) {
    const { code, target } = entry;
    // Fields have no escapes, readers collapse spaces, and many take a line that starts with # for a comment.
    if (/[|\s]|^#/.test(code + target))
      return leaveOut(entry, "links with a character that BEACON can't have, such as |");
    return `${code}|${endComments([entry], "", "").trim()}|${target}\n`;
  },
};

/** Formats that hold only redirects. */
export const REDIRECT_FORMATS = { nginx, caddy, netlify, html, beacon };
