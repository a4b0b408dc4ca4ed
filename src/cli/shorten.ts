import { CurtError, type LinkRequest, type ManagedLink } from "../../client/client.ts";
import { escapeLine } from "../lib/escape-line.ts";
import type { Arguments, Environment } from "./command.ts";
import { ask } from "./instance-request.ts";
import { copyToClipboard } from "./terminal/clipboard.ts";
import { readPassword } from "./terminal/password.ts";
import { fail, note, print, printJson } from "./terminal/print.ts";
import { qrText } from "./terminal/qr-text.ts";
import { readLines } from "./terminal/read-lines.ts";

/** A pipe waits until the limits of the instance let it go on, which usually takes a minute. */
const PATIENCE_MS = 130_000;

/** More than an instance takes. */
const MAX_LINE_LENGTH = 10_000;
/** Of a refused line, what is told. */
const TOLD_LENGTH = 200;

type Terms = Omit<LinkRequest, "target">;

/** Shortens the arguments, or each line of a pipe; returns the exit code. */
export async function shorten(
  environment: Environment,
  { positionals, options }: Arguments,
): Promise<number> {
  if (positionals.length === 0 && process.stdin.isTTY)
    return misuse("shorten needs a URL, as an argument or from a pipe");
  if (options["code"] !== undefined && positionals.length !== 1)
    return misuse("--code is for one URL, given as an argument");
  const terms = await readTerms(environment, options);
  if (typeof terms === "string") return misuse(terms);
  const isJson = options["json"] === true;
  const fromPipe = positionals.length === 0;
  return ask(environment, async (client) => {
    let failed = 0;
    const made: ManagedLink[] = [];
    for await (const targets of fromPipe ? readLines(process.stdin, MAX_LINE_LENGTH) : [positionals]) {
      const wanted = targets.map((target) => ({ target, ...terms }));
      let nth = 0;
      for await (const link of client.batch(wanted, fromPipe ? { timeoutMs: PATIENCE_MS } : {})) {
        const target = targets[nth++];
        if (link instanceof CurtError) {
          failed = fail(`${target?.slice(0, TOLD_LENGTH)}: ${link.message}`);
          continue;
        }
        // Only the first link matters, and whether it is the only one.
        if (made.length < 2) made.push(link);
        if (isJson) printJson(link);
        else print(escapeLine(link.short_url));
      }
    }
    const [link] = made;
    if (link !== undefined && made.length === 1 && process.stdout.isTTY && !isJson)
      await present(link, environment);
    return failed;
  });
}

/** What all links have in common; a text is what is wrong. */
async function readTerms(environment: Environment, options: Arguments["options"]): Promise<Terms | string> {
  const [code, expires, starts] = ["code", "expires", "starts"].map(
    (name) => options[name] as string | undefined,
  );
  const max_visits = options["max-visits"] === undefined ? undefined : Number(options["max-visits"]);
  if (Number.isNaN(max_visits)) return "--max-visits must be a number";
  const terms = { code, expires: expires === "never" ? null : expires, starts, max_visits };
  if (options["password"] !== true) return terms;
  const password = await readPassword(environment);
  return password ? { ...terms, password } : "--password needs CURT_PASSWORD, or a terminal to ask for it";
}

function misuse(text: string): number {
  fail(text);
  return 2;
}

/** What a person does next with an address: paste it, or hold a phone in front of it. */
async function present({ short_url, manage_key }: ManagedLink, environment: Environment): Promise<void> {
  note(await copyToClipboard(short_url, environment));
  note(`To change or end the link: ${short_url.replace(/\/$/, "")}+#key=${manage_key}`);
  const lines = qrText(short_url);
  if (Bun.stringWidth(lines[0] ?? "") > process.stdout.columns)
    note("The terminal is too narrow for the QR code.");
  else for (const line of lines) print(line);
}
