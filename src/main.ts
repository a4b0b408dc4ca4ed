import { parseArgs } from "node:util";

import { check } from "./cli/check.ts";
import { HELP } from "./cli/help.ts";
import { CHILD, serveAsChild, supervise } from "./cli/processes.ts";
import { serve } from "./cli/serve.ts";
import { type Config, ConfigError, readConfig } from "./config.ts";
import { CannotListen } from "./http/server.ts";
import { StoreUnusable } from "./links/store.ts";
import { VERSION } from "./version.ts";

const COMMANDS: Readonly<Record<string, (config: Config) => number | Promise<number>>> = {
  serve: (config) => (config.processes === 1 ? serve(config) : supervise(config)),
  check,
  [CHILD]: serveAsChild,
};

/** Exit codes: 0 done, 1 it failed, 2 the call or the configuration is wrong. */
async function main(args: string[]): Promise<number> {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: { help: { type: "boolean", short: "h" }, version: { type: "boolean", short: "v" } },
    });
    if (values.version) return say(VERSION);
    if (values.help) return say(HELP);
    const [name = "", ...rest] = positionals;
    const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
    if (command === undefined || rest.length > 0) return complain(HELP, 2);
    return await command(readConfig(process.env));
  } catch (error) {
    return explain(error);
  }
}

function explain(error: unknown): number {
  if (!(error instanceof Error)) throw error;
  const code = (error as { code?: string }).code ?? "";
  if (error instanceof ConfigError)
    return complain(error.mistakes.map((mistake) => `curt: ${mistake}`).join("\n"), 2);
  if (error instanceof StoreUnusable || error instanceof CannotListen) {
    return complain(`curt: ${error.message}`, 1);
  }
  if (code.startsWith("ERR_PARSE_ARGS")) return complain(`curt: ${error.message}\n\n${HELP}`, 2);
  throw error;
}

function say(text: string): number {
  console.log(text);
  return 0;
}

function complain(text: string, code: number): number {
  console.error(text);
  return code;
}

process.exit(await main(process.argv.slice(2)));
