import { UsageError, readCommandLine } from "./cli/command.ts";
import { COMMANDS } from "./cli/commands.ts";
import { ConfigError, readConfig } from "./config.ts";
import { CannotListen } from "./http/server.ts";
import { StoreUnavailable, StoreUnusable } from "./links/store.ts";

/** Exit codes: 0 done, 1 it failed, 2 the call or the configuration is wrong. */
async function main(line: string[]): Promise<number> {
  try {
    const asked = readCommandLine(COMMANDS, line);
    if ("command" in asked) return await asked.command.run(readConfig(process.env), asked.args);
    console.log(asked.text);
    return 0;
  } catch (error) {
    return explain(error);
  }
}

function explain(error: unknown): number {
  if (error instanceof UsageError) return complain(`curt: ${error.message}\n\n${error.help}`, 2);
  if (error instanceof ConfigError)
    return complain(error.mistakes.map((mistake) => `curt: ${mistake}`).join("\n"), 2);
  if (error instanceof StoreUnusable || error instanceof CannotListen)
    return complain(`curt: ${error.message}`, 1);
  if (error instanceof StoreUnavailable)
    return complain(`curt: the store is unavailable: ${error.message}`, 1);
  throw error;
}

function complain(text: string, code: number): number {
  console.error(text);
  return code;
}

process.exit(await main(process.argv.slice(2)));
