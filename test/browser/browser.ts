import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";

import {
  type Browser,
  type BrowserContextOptions,
  chromium as playwright,
  type Locator,
  type Page,
} from "playwright-core";

import { type MessageKey, message, negotiateLanguage, type Values } from "../../src/locales/messages.ts";
import { TEST_FOLDER } from "../support/service.ts";
import { createWatchedFolder } from "../support/watched-folder.ts";

const QUIET = [
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  // Saves a tenth of the CPU time: no process for graphics, and none in reserve for another page.
  "--in-process-gpu",
  "--renderer-process-limit=1",
];

let shared: Promise<Browser> | undefined;

/**
 * The Chromium that all tests of this process share. It ends with the process. The first call sets its environment. One that crashed
 * between two tests is replaced.
 */
export async function openBrowser(environment: Readonly<Record<string, string>> = {}): Promise<Browser> {
  shared ??= launch(environment);
  const browser = await shared;
  if (browser.isConnected()) return browser;
  shared = launch(environment);
  return shared;
}

/**
 * On Linux a real Chromium out of npm, with the libraries that a bare machine lacks; elsewhere the Chrome that is
 * installed. It talks to loopback only.
 */
async function launch(environment: Readonly<Record<string, string>>): Promise<Browser> {
  if (process.platform !== "linux")
    return playwright.launch({ channel: "chrome", args: QUIET, timeout: WAIT_MS });
  const place = TEST_FOLDER ?? createWatchedFolder("curt-browser").path;
  const folder = await unpackBrowser(place);
  const { TMPDIR } = process.env;
  // Playwright leaves its folders behind, because nobody closes it before the process ends.
  process.env["TMPDIR"] = place;
  const options = {
    timeout: WAIT_MS,
    executablePath: join(folder, "chromium"),
    // Root, as in many CI machines, has no sandbox to give. The package's own arguments switch web security off.
    args: ["--no-sandbox", "--disable-gpu", ...QUIET],
    headless: true,
    // Nothing of this machine's environment, so that pages are the same everywhere.
    env: {
      HOME: folder,
      TMPDIR: place,
      TZ: "UTC",
      // Without a locale, Chromium names each file "download" whose name isn't ASCII.
      LC_ALL: "C.UTF-8",
      LD_LIBRARY_PATH: join(folder, "lib"),
      FONTCONFIG_FILE: join(folder, "fonts.conf"),
      ...environment,
    },
  };
  // Its graphics thread crashes in about one of a hundred starts, and all tests of the process share it.
  const launched = await playwright.launch(options).catch(() => playwright.launch(options));
  if (TMPDIR === undefined) delete process.env["TMPDIR"];
  else process.env["TMPDIR"] = TMPDIR;
  return launched;
}

/**
 * Unpacks the browser into a folder in `place`, unless it's there, and returns that folder. Several processes may do so at the same
 * time, but each then takes 2 s. Not in a common place, where the files of another user would be in the way.
 */
export async function unpackBrowser(place: string): Promise<string> {
  const folder = join(place, "browser");
  if (existsSync(folder)) return folder;
  const archives = join(dirname(fileURLToPath(import.meta.resolve("@sparticuz/chromium"))), "../../bin");
  const read = (name: string) => decompress(readFileSync(join(archives, name)));
  const part = mkdtempSync(`${folder}-`);
  writeFileSync(join(part, "chromium"), await read("chromium.br"), { mode: 0o700 });
  for (const name of ["al2023", "fonts", "swiftshader"])
    await new Bun.Archive(await read(`${name}.tar.br`)).extract(part);
  const fonts = join(part, "fonts.conf");
  writeFileSync(fonts, readFileSync(fonts, "utf8").replaceAll("/tmp/", `${folder}/`));
  try {
    renameSync(part, folder);
  } catch (cause) {
    // Another process was faster.
    if (!existsSync(folder)) throw cause;
    rmSync(part, { recursive: true });
  }
  return folder;
}

const decompress = promisify(brotliDecompress);

/** Time limit for the browser to start, and for something to appear on a page. */
const WAIT_MS = 60_000;
const MINUTE_MS = 60_000;

/**
 * Opens a page in a window without cookies or storage. Closing it fails the test if the browser reported a problem: errors of scripts,
 * violations of a page's policy, requests to other origins, and requests that fail or are refused. The API may refuse, because it
 * checks what a person types.
 */
export async function openPage(
  origin: string,
  options: BrowserContextOptions = {},
): Promise<Page & AsyncDisposable> {
  const browser = await openBrowser();
  const context = await browser.newContext({
    baseURL: origin,
    locale: "en-GB",
    // Transitions take an eighth of the time of all tests, and axe sees colours on their way from light to dark.
    reducedMotion: "reduce",
    ...options,
  });
  context.setDefaultTimeout(WAIT_MS);
  const problems: string[] = [];
  context.on("console", (entry) => {
    // The console repeats statuses, the page's own among them.
    if (entry.type() === "error" && !/the server responded with a status of/.test(entry.text()))
      problems.push(entry.text());
  });
  context.on("weberror", (event) => {
    problems.push(String(event.error()));
  });
  context.on("request", (request) => {
    if (request.isNavigationRequest()) return;
    if (new URL(request.url()).origin !== new URL(request.frame().url()).origin)
      problems.push(`requested from another origin: ${request.url()}`);
  });
  context.on("requestfailed", (request) => {
    const reason = request.failure()?.errorText;
    // A download, a page that was left, or a cancelled request.
    if (reason !== "net::ERR_ABORTED") problems.push(`${reason}: ${request.url()}`);
  });
  context.on("response", (response) => {
    // The script sends the home form, and shows why it was refused.
    const isForm = response.request().method() === "POST" && new URL(response.url()).pathname === "/";
    const refused = isForm || response.url().startsWith(`${origin}/api/`) ? 500 : 400;
    if (!response.request().isNavigationRequest() && response.status() >= refused)
      problems.push(`${response.status()}: ${response.url()}`);
  });
  return Object.assign(await context.newPage(), {
    async [Symbol.asyncDispose]() {
      await context.close();
      if (problems.length > 0) throw new Error(`the browser reported: ${problems.join("\n")}`);
    },
  });
}

/** The first of these readers of the same pages; all of them with `READERS=all`, which `npm run test:all` sets. */
export function readers<Reader>(all: readonly Reader[]): readonly Reader[] {
  return process.env["READERS"] === "all" ? all : all.slice(0, 1);
}

/** Resolves when `element` has the focus. */
export async function untilFocused(element: Locator): Promise<void> {
  await element.and(element.page().locator(":focus")).waitFor();
}

/** Opens the menu of languages, and selects one. */
export async function chooseLanguage(page: Page, language: string): Promise<void> {
  await page.locator("[popovertarget=languages]").click();
  await page.locator(`a[hreflang=${language}]`).click();
}

/**
 * From now on, also in later documents, time passes on the page only with `page.clock.runFor`. So timers don't fire early and short
 * notices don't disappear, however slow the machine is.
 */
export async function stopTime({ clock }: Page): Promise<void> {
  await clock.install();
  await clock.pauseAt(Date.now() + MINUTE_MS);
}

/** The messages in the language of `locale`. */
export function wordsOf(locale: string): (key: MessageKey, values?: Values) => string {
  return (key, values) => message(negotiateLanguage(locale), key, values);
}

/** The window sizes of a phone and of a laptop. */
export const PHONE = { width: 360, height: 740 };
export const LAPTOP = { width: 1280, height: 800 };

/** Opens the rows of a manage page. */
export async function openSettings(page: Page): Promise<void> {
  await page.locator(".setting").first().waitFor();
  const closed = page.locator(".setting:not([open]) > summary");
  while ((await closed.count()) > 0) await closed.first().click();
}
