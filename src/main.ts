import { type Commands, UsageError, readCommandLine } from "./cli/command.ts";
import { INSTANCE_COMMANDS } from "./cli/instance-commands.ts";
import { print, READER_GONE, ReaderGone } from "./cli/terminal/print.ts";
import { ConfigError, readConfig } from "./config/config.ts";
import { becomeImageUser } from "./config/image-user.ts";
import { escapeLine } from "./lib/log.ts";
import {
  StoreMisconfigured,
  StoreUnavailable,
  StoreUnusable,
  SYNC_FAILED,
  SyncFailed,
} from "./links/link-store.ts";
import { CannotListen } from "./server/listen.ts";

const PARENT_CHECK_MS = 1000;

/** Exit codes: 0 done, 1 it failed, 2 the call or the configuration is wrong. */
async function main(line: string[]): Promise<number> {
  try {
    becomeImageUser(process.env);
    const call = readCommandLine(await commandsFor(line), line);
    if ("text" in call) {
      print(call.text);
      return 0;
    }
    const { command, args } = call;
    return await ("runAsClient" in command
      ? command.runAsClient(process.env, args)
      : command.run(readConfig(process.env, command.serves), args));
  } catch (error) {
    return explain(error);
  }
}

/** npx ends on SIGTERM, as does its shell, and neither passes the signal on. */
function endWithParent(): void {
  const parent = process.ppid;
  const watching = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watching);
    process.kill(process.pid, "SIGTERM");
  }, PARENT_CHECK_MS).unref();
}

/** Loading the server takes ten times as long as a request to one. */
async function commandsFor([first = ""]: string[]): Promise<Commands> {
  if (Object.hasOwn(INSTANCE_COMMANDS, first)) return INSTANCE_COMMANDS;
  return (await import("./cli/commands.ts")).COMMANDS;
}

function explain(error: unknown): number {
  if (error instanceof UsageError) return complain(`curt: ${error.message}\n\n${error.help}`, 2);
  if (error instanceof ReaderGone) return READER_GONE;
  if (error instanceof ConfigError)
    return complain(error.mistakes.map((mistake) => `curt: ${mistake}`).join("\n"), 2);
  if (error instanceof StoreMisconfigured) return complain(`curt: ${escapeLine(error.message)}`, 2);
  if (error instanceof StoreUnusable || error instanceof CannotListen)
    return complain(`curt: ${escapeLine(error.message)}`, 1);
  if (error instanceof SyncFailed)
    return complain(
      `curt: the disk did not store what was written: ${escapeLine(error.message)}`,
      SYNC_FAILED,
    );
  if (error instanceof StoreUnavailable)
    return complain(`curt: the store is unavailable: ${escapeLine(error.message)}`, 1);
  throw error;
}

function complain(text: string, code: number): number {
  console.error(text);
  return code;
}

// Remarks that nobody reads end no command.
process.stderr.on("error", () => {});
// This signal is for `serve` once it serves. By default it would end a start, and any other command.
process.on("SIGUSR2", () => {});
// Only Curt's own user may read its files: the store, backups and exports contain the secret of the manage keys.
process.umask(0o077);
if (process.env["npm_command"] === "exec") endWithParent();
process.exit(await main(process.argv.slice(2)));
