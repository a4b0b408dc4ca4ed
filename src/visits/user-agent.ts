import { UAParser } from "ua-parser-js";

import { once } from "../lib/memoize.ts";
import { crawlerNames, crawlerPatterns, toolPatterns } from "./crawlers.ts" with { type: "macro" };

/** What a `User-Agent` says. Every field has a closed set of values, including "" or "other" for unknown. */
export interface Agent {
  /** Whether it is a program instead of a person. If so, the other fields are unknown. */
  readonly bot: boolean;
  /** The browser's family, or the app that opened the link in its own window. */
  readonly browser: string;
  readonly os: string;
  readonly device: Device;
}

type Device = "desktop" | "phone" | "tablet" | "tv" | "other";

const BOT: Agent = { bot: true, browser: "", os: "", device: "other" };

/** In characters. Browsers send less. The rest is cut off, because parsing it would take time. */
const MAX_LENGTH = 512;

/** How browsers begin, before they say what they run on. HTTP libraries and link previewers begin with their name. */
const BROWSER_FORM = /^(?:Mozilla\/[45]\.0 \(|Opera\/\d)/;

/** How often a browser may say "Android". Some apps repeat it, but the library takes quadratic time for repetitions. */
const MAX_ANDROIDS = 5;

/** Patterns of bots that crawler-user-agents does not have. */
const MISSING = [
  "kakaotalk-scrap",
  // Bots call themselves "compatible;". Only these two browsers do, too.
  "compatible; (?!MSIE |Konqueror)",
  // Bots often give an address that explains them.
  "\\+https?:",
  "Daumoa",
  // Sogou's crawlers, but not its browsers.
  "Sogou [\\w-]+ [Ss]pider",
  "PowerShell",
];

const bots = new RegExp([crawlerPatterns(), ...MISSING].join("|"));
const hasBotName = once(() => containsAnyOf(crawlerNames().split("\n")));
const tools = once(() => new RegExp([toolPatterns(), "PowerShell"].join("|")));

/** From the library's names to ours. The keys are in lower case, because the library keeps the visitor's spelling. */
const BROWSERS: ReadonlyMap<string, string> = new Map([
  ["2345", "2345"],
  ["360", "360"],
  ["alipay", "Alipay"],
  ["android browser", "Android Browser"],
  ["avast secure browser", "Avast"],
  ["avg secure browser", "AVG"],
  ["brave", "Brave"],
  ["chrome", "Chrome"],
  ["chrome webview", "Android WebView"],
  ["chromium", "Chromium"],
  ["coc coc", "Cốc Cốc"],
  ["daum", "Daum"],
  ["duckduckgo", "DuckDuckGo"],
  ["edge", "Edge"],
  ["electron", "Electron"],
  ["epiphany", "Epiphany"],
  ["facebook", "Facebook"],
  ["falkon", "Falkon"],
  ["firefox", "Firefox"],
  ["firefox focus", "Firefox"],
  ["gsa", "Google"],
  ["heytap", "HeyTap"],
  ["huawei browser", "Huawei Browser"],
  ["ie", "Internet Explorer"],
  ["iemobile", "Internet Explorer"],
  ["instagram", "Instagram"],
  ["kakaostory", "KakaoStory"],
  ["kakaotalk", "KakaoTalk"],
  ["klar", "Firefox"],
  ["klarna", "Klarna"],
  ["librewolf", "LibreWolf"],
  ["line", "LINE"],
  ["linkedin", "LinkedIn"],
  ["maxthon", "Maxthon"],
  ["miui browser", "Mi Browser"],
  ["mobile safari", "Safari"],
  ["naver", "NAVER"],
  ["oculus browser", "Meta Quest Browser"],
  ["opera", "Opera"],
  ["opera coast", "Opera"],
  ["opera gx", "Opera"],
  ["opera mini", "Opera"],
  ["opera mobi", "Opera"],
  ["opera mobile", "Opera"],
  ["opera tablet", "Opera"],
  ["opera touch", "Opera"],
  ["palemoon", "Pale Moon"],
  ["pico browser", "PICO Browser"],
  ["puffin", "Puffin"],
  ["qqbrowser", "QQ Browser"],
  ["qqbrowserlite", "QQ Browser"],
  ["safari", "Safari"],
  ["sailfish browser", "Sailfish Browser"],
  ["samsung internet", "Samsung Internet"],
  ["seamonkey", "SeaMonkey"],
  ["silk", "Silk"],
  ["smart lenovo browser", "Lenovo Browser"],
  ["snapchat", "Snapchat"],
  ["sogou explorer", "Sogou"],
  ["sogou mobile", "Sogou"],
  ["tesla", "Tesla"],
  ["tiktok", "TikTok"],
  ["twitter", "X"],
  ["ucbrowser", "UC Browser"],
  ["vivaldi", "Vivaldi"],
  ["vivo browser", "vivo Browser"],
  ["waterfox", "Waterfox"],
  ["wechat", "WeChat"],
  ["whale", "Whale"],
  ["yandex", "Yandex"],
]);

const SYSTEMS: ReadonlyMap<string, string> = new Map([
  ["android", "Android"],
  ["android-x86", "Android"],
  ["blackberry", "BlackBerry"],
  ["chromecast", "Chromecast"],
  ["chromium os", "ChromeOS"],
  ["freebsd", "FreeBSD"],
  ["harmonyos", "HarmonyOS"],
  ["ios", "iOS"],
  ["kaios", "KaiOS"],
  ["mac os", "macOS"],
  ["netbsd", "NetBSD"],
  ["nintendo", "Nintendo"],
  ["openbsd", "OpenBSD"],
  ["openharmony", "HarmonyOS"],
  ["playstation", "PlayStation"],
  ["sailfish", "Sailfish OS"],
  ["tizen", "Tizen"],
  ["webos", "webOS"],
  ["windows", "Windows"],
  ["windows mobile", "Windows Phone"],
  ["windows phone", "Windows Phone"],
  ["windows phone os", "Windows Phone"],
  ["xbox", "Xbox"],
  // Distributions are not worth telling apart in statistics.
  ...[
    "arch",
    "centos",
    "debian",
    "fedora",
    "gentoo",
    "kubuntu",
    "linux",
    "lubuntu",
    "manjaro",
    "mint",
    "opensuse",
    "red hat",
    "redhat",
    "suse",
    "ubuntu",
    "xubuntu",
  ].map((name) => [name, "Linux"] as const),
]);

const DEVICES: ReadonlyMap<string, Device> = new Map([
  ["mobile", "phone"],
  ["tablet", "tablet"],
  ["smarttv", "tv"],
]);

/** The usual device of a system. Used when the library does not name one. */
const USUAL_DEVICES: ReadonlyMap<string, Device> = new Map([
  ["Android", "phone"],
  ["ChromeOS", "desktop"],
  ["FreeBSD", "desktop"],
  ["iOS", "phone"],
  ["KaiOS", "phone"],
  ["Linux", "desktop"],
  ["macOS", "desktop"],
  ["NetBSD", "desktop"],
  ["OpenBSD", "desktop"],
  ["Windows", "desktop"],
]);

/** Systems that only run on computers. */
const ALWAYS_DESKTOP = new Set(["ChromeOS", "macOS", "Windows"]);

/** Reads a `User-Agent`. An empty one counts as a bot. */
export function readAgent(userAgent: string): Agent {
  const text = shorten(userAgent);
  if (!BROWSER_FORM.test(text) || isListed(text)) return BOT;
  if (lower(text).split("droid").length - 1 > MAX_ANDROIDS) return BOT;
  const parser = new UAParser(text);
  const os = SYSTEMS.get(lower(parser.getOS().name)) ?? "";
  // Looking for a device takes longer than everything else, so do it only where one may be found.
  const type = ALWAYS_DESKTOP.has(os) ? undefined : parser.getDevice().type;
  return {
    bot: false,
    browser: BROWSERS.get(lower(parser.getBrowser().name)) ?? "",
    os,
    device: (type === undefined ? USUAL_DEVICES.get(os) : DEVICES.get(type)) ?? "other",
  };
}

/**
 * Whether the program looks at links that others follow: search engines, previews in chats, monitors. HTTP libraries and
 * unknown programs are no crawlers: somebody wants to get where the link leads.
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

/** In characters. Few of the texts begin with the same three. */
const START_LENGTH = 3;

/**
 * Returns a function that says whether a text contains any of these, which have three characters or more. A regular
 * expression of so many takes as long to compile as half a start of the service.
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
