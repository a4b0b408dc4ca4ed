import { type Client, CurtError, type ExpireDuration } from "../../client/client.ts";
import { escapeLine } from "../escape.ts";
import { ask } from "./ask.ts";
import type { Arguments, Environment } from "./command.ts";
import { fail, printRow } from "./print.ts";

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
  return ask(environment, async (client) => {
    let failed = 0;
    for await (const url of positionals.length > 0 ? positionals : linesOf(process.stdin)) {
      const link = await one(client, url, { code, expires });
      if (link instanceof CurtError) failed = fail(`${url}: ${link.message}`);
      else if (options["json"] === true) printRow({ ...link }, true);
      else console.log(escapeLine(link.short_url));
    }
    return failed;
  });
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
