import { type Client, CurtError, type ExpireDuration } from "../../client/client.ts";
import { escapeLine } from "../escape.ts";
import { ask } from "./ask.ts";
import { copyToClipboard } from "./clipboard.ts";
import type { Arguments, Environment } from "./command.ts";
import { fail, note, printRow } from "./print.ts";
import { qrText } from "./qr-text.ts";

/** Shortens the arguments, or each line of a pipe; returns the exit code. */
export async function shorten(
  environment: Environment,
  { positionals, options }: Arguments,
): Promise<number> {
  const code = typeof options["code"] === "string" ? options["code"] : undefined;
  const expires = options["expires"] as ExpireDuration | undefined;
  if (positionals.length === 0 && process.stdin.isTTY) {
    fail("shorten needs a URL, as an argument or from a pipe");
    return 2;
  }
  if (code !== undefined && positionals.length !== 1) {
    fail("--code is for one URL, given as an argument");
    return 2;
  }
  const isJson = options["json"] === true;
  return ask(environment, async (client) => {
    let failed = 0;
    let made = 0;
    let address = "";
    for await (const url of positionals.length > 0 ? positionals : linesOf(process.stdin)) {
      const link = await one(client, url, { code, expires });
      if (link instanceof CurtError) {
        failed = fail(`${url}: ${link.message}`);
        continue;
      }
      made++;
      address = link.short_url;
      if (isJson) printRow({ ...link }, true);
      else console.log(escapeLine(address));
    }
    if (made === 1 && process.stdout.isTTY && !isJson) await present(address, environment);
    return failed;
  });
}

/** What a person does next with an address: paste it, or hold a phone in front of it. */
async function present(address: string, environment: Environment): Promise<void> {
  note(await copyToClipboard(address, environment));
  const lines = qrText(address);
  if (Bun.stringWidth(lines[0] ?? "") > process.stdout.columns)
    note("The terminal is too narrow for the QR code.");
  else for (const line of lines) console.log(line);
}

type Choices = Parameters<Client["shorten"]>[1];

async function one(client: Client, url: string, choices: Choices) {
  try {
    return await client.shorten(url, choices);
  } catch (error) {
    if (error instanceof CurtError) return error;
    throw error;
  }
}

/** Lines that are not empty. */
async function* linesOf(input: AsyncIterable<Uint8Array>) {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of input) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.trim() !== "") yield line.trim();
  }
  if (rest.trim() !== "") yield rest.trim();
}
