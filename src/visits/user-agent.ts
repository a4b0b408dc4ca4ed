import { UAParser } from "ua-parser-js";

import { once } from "../lib/memoize.ts";
import { crawlerNames, crawlerPatterns, toolPatterns } from "./crawlers.ts" with { type: "macro" };
import { type Dimension, NAMES } from "./days/dimensions.ts";

/** A parsed `User-Agent`. Every field has a closed set of values, including "" or "other" for unknown. */
export interface Agent {
  /** If true, the other fields are unknown. */
  readonly bot: boolean;
  /** The browser's family, or the app that opened the link in its own window. */
  readonly browser: string;
  readonly os: string;
  readonly device: Device;
}

type Device = "desktop" | "phone" | "tablet" | "tv" | "other";

const BOT: Agent = { bot: true, browser: "", os: "", device: "other" };

/** In characters. Browsers send less, and parsing the rest would take time. */
const MAX_LENGTH = 512;

/** Browsers start like this. HTTP libraries and link previewers start with their name. */
const BROWSER_FORM = /^(?:Mozilla\/[45]\.0 \(|Opera\/\d)/;

/** Some apps repeat "Android", but the library takes quadratic time for repetitions. */
const MAX_ANDROIDS = 5;

/** Patterns of bots that crawler-user-agents does not have. */
const MISSING = [
  "kakaotalk-scrap",
  // Bots call themselves "compatible;", and so do only these two browsers.
  "compatible; (?!MSIE |Konqueror)",
  // Bots often give an address with an explanation.
  "\\+https?:",
  "Daumoa",
  // Sogou's crawlers, but not its browsers.
  "Sogou [\\w-]+ [Ss]pider",
  "PowerShell",
];

const bots = new RegExp([crawlerPatterns(), ...MISSING].join("|"));
const hasBotName = once(() => containsAnyOf(crawlerNames().split("\n")));
const tools = once(() => new RegExp([toolPatterns(), "PowerShell"].join("|")));

/**
 * Our names by the library's, in lower case because the library keeps the visitor's spelling. Names not listed here are
 * the same.
 */
const BROWSERS = byName("browsers", {
  Avast: ["avast secure browser"],
  AVG: ["avg secure browser"],
  "Android WebView": ["chrome webview"],
  "Cốc Cốc": ["coc coc"],
  Firefox: ["firefox focus", "klar"],
  Google: ["gsa"],
  "Internet Explorer": ["ie", "iemobile"],
  "Mi Browser": ["miui browser"],
  Safari: ["mobile safari"],
  "Meta Quest Browser": ["oculus browser"],
  Opera: [
    "opera coast",
    "opera gx",
    "opera mini",
    "opera mobi",
    "opera mobile",
    "opera tablet",
    "opera touch",
  ],
  "Pale Moon": ["palemoon"],
  "QQ Browser": ["qqbrowser", "qqbrowserlite"],
  "Lenovo Browser": ["smart lenovo browser"],
  Sogou: ["sogou explorer", "sogou mobile"],
  X: ["twitter"],
  "UC Browser": ["ucbrowser"],
});

const SYSTEMS = byName("operating_systems", {
  Android: ["android-x86"],
  ChromeOS: ["chromium os"],
  macOS: ["mac os"],
  HarmonyOS: ["openharmony"],
  "Sailfish OS": ["sailfish"],
  "Windows Phone": ["windows mobile", "windows phone os"],
  // Statistics don't distinguish distributions.
  Linux: "arch centos debian fedora gentoo kubuntu lubuntu manjaro mint opensuse redhat suse ubuntu xubuntu"
    .split(" ")
    .concat("red hat"),
});

function byName(dimension: Dimension, others: Readonly<Record<string, readonly string[]>>) {
  const names = NAMES[dimension].map((name): [string, string] => [lower(name), name]);
  const aliases = Object.entries(others).flatMap(([name, all]) =>
    all.map((other): [string, string] => [other, name]),
  );
  return new Map([...names, ...aliases]);
}

const DEVICES: ReadonlyMap<string, Device> = new Map([
  ["mobile", "phone"],
  ["tablet", "tablet"],
  ["smarttv", "tv"],
]);

/** Devices of systems, for when the library does not name one. */
const PHONES = new Set(["Android", "iOS", "KaiOS"]);
const DESKTOPS = new Set(["ChromeOS", "FreeBSD", "Linux", "macOS", "NetBSD", "OpenBSD", "Windows"]);

/** Systems that only run on computers. */
const ALWAYS_DESKTOP = new Set(["ChromeOS", "macOS", "Windows"]);

/** Reads a `User-Agent`. An empty one counts as a bot. */
export function readAgent(userAgent: string): Agent {
  const text = shorten(userAgent);
  if (!BROWSER_FORM.test(text) || isListed(text)) return BOT;
  if (lower(text).split("droid").length - 1 > MAX_ANDROIDS) return BOT;
  const parser = new UAParser(text);
  const os = SYSTEMS.get(lower(parser.getOS().name)) ?? "";
  // Finding the device takes longer than everything else.
  const type = ALWAYS_DESKTOP.has(os) ? undefined : parser.getDevice().type;
  return {
    bot: false,
    browser: BROWSERS.get(lower(parser.getBrowser().name)) ?? "",
    os,
    device: (type === undefined ? usualDevice(os) : DEVICES.get(type)) ?? "other",
  };
}

function usualDevice(os: string): Device | undefined {
  if (PHONES.has(os)) return "phone";
  return DESKTOPS.has(os) ? "desktop" : undefined;
}

/**
 * Whether the client only inspects links: search engines, previews in chats, monitors. HTTP libraries and unknown clients
 * are not crawlers, because somebody uses them to follow the link.
 */
export function isCrawler(userAgent: string): boolean {
  const text = shorten(userAgent);
  return isListed(text) && !tools().test(text);
}

function isListed(text: string): boolean {
  return bots.test(text) || hasBotName()(text);
}

/** The libraries' regular expressions backtrack a lot on long runs of spaces. */
function shorten(userAgent: string): string {
  return userAgent.slice(0, MAX_LENGTH).replace(/\s+/g, " ");
}

function lower(name = ""): string {
  return name.toLowerCase();
}

/** In characters. Few of the texts start with the same three. */
const START_LENGTH = 3;

/**
 * Returns a check whether a text contains any of `parts`, which have at least three characters. Compiling a regular
 * expression of all parts would take as long as half a start of the service.
 * @internal
 */
export function containsAnyOf(parts: readonly string[]): (text: string) => boolean {
  const byStart = Map.groupBy(parts, (part) => part.slice(0, START_LENGTH));
  return (text) => {
    for (let at = 0; at <= text.length - START_LENGTH; at++) {
      const found = byStart.get(text.slice(at, at + START_LENGTH));
      if (found?.some((part) => text.startsWith(part, at)) === true) return true;
    }
    return false;
  };
}
