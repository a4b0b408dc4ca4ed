import type { Config } from "../config.ts";
import { type Core, openCore } from "../core.ts";
import { describe, type HttpProblem, nameFirst } from "../http/problems.ts";
import { message } from "../language/messages.ts";
import { StoreUnavailable } from "../links/store.ts";
import { createLog } from "../log.ts";
import { hasStore } from "../store/open.ts";
import type { Arguments } from "./command.ts";
import { noStore } from "./names.ts";
import { fail } from "./print.ts";

/** A command that works on the store itself. Servers that run apply what it changes within a second. */
export function operate(act: (core: Core, args: Arguments) => Promise<number>) {
  return async (config: Config, args: Arguments): Promise<number> => {
    // Nobody looks for links in a new store: the settings are those of another place.
    if (!(await hasStore(config.database))) return fail(noStore(config.database));
    // Standard output is for what was asked.
    const core = await openCore(config, createLog(config.logLevel, process.stderr));
    try {
      return await act(core, args);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      return fail(`the store is unavailable: ${error.message}`);
    } finally {
      await core.close();
    }
  };
}

/** Fields that the shell calls something else. */
const OPTIONS: Readonly<Record<string, string>> = { made_from: "--from", made_to: "--to" };

export function failBy(problem: HttpProblem): number {
  const told = describe(problem).messages.map((one) => {
    const field = OPTIONS[String(one.field)] ?? one.field;
    return nameFirst({ ...one, field }, message("en", one.key, one.values));
  });
  return fail(told.join(" "));
}
