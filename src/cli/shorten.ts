import { encodeQR } from "qr";

import { CurtError } from "../../client/client.ts";
import type { ManagedLink } from "../../client/types.ts";
import { escapeLine } from "../lib/log.ts";
import type { Arguments, Environment } from "./command.ts";
import { sendRequests } from "./instance-request.ts";
import { openKeys, readTerms } from "./manage.ts";
import { fail, note, print, printJson } from "./terminal/print.ts";
import { readLines } from "./terminal/standard-input.ts";

/** Lets a pipe wait for the limits of the instance, which usually takes a minute. */
const PATIENCE_MS = 130_000;

/** Beyond the limit of any instance. */
const MAX_LINE_LENGTH = 10_000;
/** In error messages. */
const MAX_QUOTE_LENGTH = 200;

/** Shortens the arguments, or each line of a pipe; returns the exit code. */
export async function shorten(
  environment: Environment,
  { positionals, options }: Arguments,
): Promise<number> {
  if (positionals.length === 0 && process.stdin.isTTY)
    return fail("shorten needs a URL, as an argument or from a pipe", 2);
  if (options["code"] !== undefined && positionals.length !== 1)
    return fail("--code is for one URL, given as an argument", 2);
  const terms = await readTerms(environment, options);
  if (typeof terms === "string") return fail(terms, 2);
  const code = options["code"] as string | undefined;
  const keepKey = options["keep-key"] === true ? openKeys(environment) : undefined;
  const isJson = options["json"] === true;
  const fromPipe = positionals.length === 0;
  return sendRequests(environment, async (client) => {
    let failed = 0;
    const created: ManagedLink[] = [];
    for await (const targets of fromPipe ? readLines(process.stdin, MAX_LINE_LENGTH) : [positionals]) {
      const requests = targets.map((target) => ({ target, code, ...terms }));
      const outcomes: (ManagedLink | CurtError)[] = [];
      try {
        const patience = fromPipe ? { timeoutMs: PATIENCE_MS } : {};
        for await (const outcome of client.links.createAll(requests, patience)) {
          if (!(outcome instanceof CurtError) && !URL.canParse(outcome.short_url))
            return fail(
              `the instance sent ${JSON.stringify(outcome.short_url).slice(0, MAX_QUOTE_LENGTH)} instead of an address`,
            );
          // Keep keys before printing: printing ends the program once a reader such as `head` has closed the pipe.
          if (!(outcome instanceof CurtError)) keepKey?.(outcome);
          outcomes.push(outcome);
        }
      } finally {
        for (const [nth, outcome] of outcomes.entries()) {
          if (outcome instanceof CurtError)
            failed = fail(`${targets[nth]?.slice(0, MAX_QUOTE_LENGTH)}: ${outcome.message}`);
          else if (isJson) printJson(outcome);
          else print(escapeLine(outcome.short_url));
        }
      }
      // The code below needs only the first link, and whether it is the only one.
      if (created.length < 2)
        created.push(...outcomes.filter((one): one is ManagedLink => !(one instanceof CurtError)));
    }
    const [link] = created;
    if (link !== undefined && created.length === 1 && process.stdout.isTTY && !isJson)
      await present(link, environment);
    return failed;
  });
}

/** For the next step of a person: pasting the address, or scanning it with a phone. */
async function present({ short_url, manage_key }: ManagedLink, environment: Environment): Promise<void> {
  note(await copyToClipboard(short_url, environment));
  note(`To change or withdraw the link: ${short_url.replace(/\/$/, "")}+#key=${manage_key}`);
  const lines = qrText(short_url);
  if (Bun.stringWidth(lines[0] ?? "") > process.stdout.columns)
    note("The terminal is too narrow for the QR code.");
  else for (const line of lines) print(line);
}

/** Programs that copy their standard input, and the variable that they need. */
const PROGRAMS = [
  { command: ["pbcopy"], needs: undefined },
  { command: ["wl-copy"], needs: "WAYLAND_DISPLAY" },
  { command: ["xclip", "-selection", "clipboard"], needs: "DISPLAY" },
];
/** For a display that doesn't respond. */
const LIMIT_MS = 5000;

/**
 * Copies a text by OSC 52, for a terminal on another machine, and with a program of the desktop. Resolves with a
 * description: a terminal doesn't report whether it copied.
 */
async function copyToClipboard(text: string, environment: Environment): Promise<string> {
  process.stdout.write(`\u001b]52;c;${Buffer.from(text).toString("base64")}\u0007`);
  for (const { command, needs } of PROGRAMS) {
    const [name = "", ...args] = command;
    const path = Bun.which(name, { PATH: environment["PATH"] ?? "" });
    if (path === null || (needs !== undefined && !environment[needs])) continue;
    const child = Bun.spawn([path, ...args], {
      stdin: Buffer.from(text),
      stdout: "ignore",
      stderr: "ignore",
      timeout: LIMIT_MS,
    });
    if ((await child.exited) === 0) return `Copied with ${name}.`;
  }
  return "Copied, if your terminal lets programs copy (OSC 52).";
}

/** Scanners need four modules. */
const BORDER = 4;
/** Black on white in any terminal. */
const COLOURS = "\u001b[38;5;16;48;5;231m";
const RESET = "\u001b[0m";

/** The QR code of an address in half blocks: each character is two modules, one above the other. */
function qrText(address: string): string[] {
  const modules = encodeQR(new URL(address).href, "raw", { ecc: "medium", border: BORDER });
  const lines: string[] = [];
  for (let y = 0; y < modules.length; y += 2) {
    const upper = modules[y] ?? [];
    const lower = modules[y + 1] ?? [];
    const blocks = upper.map((isDark, x) => {
      if (isDark) return lower[x] === true ? "█" : "▀";
      return lower[x] === true ? "▄" : " ";
    });
    lines.push(`${COLOURS}${blocks.join("")}${RESET}`);
  }
  return lines;
}
