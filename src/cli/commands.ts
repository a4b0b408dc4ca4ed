import { CHILD, serveAsChild } from "../server/child-process.ts";
import { REDIRECT_FORMATS } from "../transfer/redirects/formats.ts";
import { backup, restore } from "./backup.ts";
import { check } from "./check.ts";
import { type Commands, type InstanceCommand, settingsHelp } from "./command.ts";
import { completion, SHELLS } from "./completion.ts";
import { printEvents } from "./events.ts";
import { exportAs } from "./export-redirects.ts";
import { INSTANCE_COMMANDS } from "./instance-commands.ts";
import { serve } from "./serve.ts";
import { print } from "./terminal/print.ts";
import { trustClock } from "./trust-clock.ts";

export const COMMANDS: Commands = {
  serve: {
    summary: "serve the API and the short addresses",
    serves: true,
    run: serve,
  },
  check: {
    summary: "check the configuration, and the store from end to end",
    run: check,
  },
  backup: {
    summary: "back up links, visits and the secret of manage keys (SQLite)",
    positionals: ["FILE"],
    run: backup,
  },
  restore: {
    summary: "make a store of a backup, where there is none",
    positionals: ["FILE"],
    options: {
      to: {
        type: "string",
        meaning: "address of the store to make, such as sqlite:./restored.db (DATABASE_URL)",
      },
    },
    run: restore,
  },
  export: {
    summary: "write everything in the store, or its redirects, to FILE; - is standard output",
    positionals: ["FILE"],
    options: {
      format: {
        type: "string",
        values: ["full", ...Object.keys(REDIRECT_FORMATS)],
        meaning: "full: everything; others: only redirects, for a server without Curt or an archive",
      },
      ending: { type: "boolean", meaning: "write redirects that end later too, with a comment of when" },
    },
    run: exportAs,
  },
  import: {
    summary: "import an export, or a shortener's CSV or BEACON; - is standard input",
    positionals: ["FILE"],
    options: {
      visits: { type: "string", meaning: "CSV file with the visits by day of the links in FILE" },
      "dry-run": { type: "boolean", meaning: "only say what would happen" },
      domain: { type: "string", meaning: "if FILE has addresses: import only those of this domain" },
      "keep-odd": { type: "boolean", meaning: "also import codes that nobody could choose here" },
      "skip-bad": { type: "boolean", meaning: "pass over broken lines" },
      report: { type: "string", meaning: "write all rows that are left out to this file" },
    },
    // Its reader of CSV would delay the start of every other command.
    run: async (config, args) => (await import("./import.ts")).importFile(config, args),
  },
  events: {
    summary: "print the events that wait for EVENTS_URL and the last sent",
    options: {
      follow: { type: "boolean", meaning: "keep running, and print new ones" },
      refused: {
        type: "boolean",
        meaning: "print those that were set aside because EVENTS_URL refused them",
      },
      resend: { type: "boolean", meaning: "send those again, and resume after a 410" },
    },
    run: printEvents,
  },
  "trust-clock": {
    summary: "confirm that the clock is right, after Curt doubted it",
    run: trustClock,
  },
  ...INSTANCE_COMMANDS,
  "help settings": {
    summary: "explain the settings of the server",
    runAsClient: () => {
      print(settingsHelp());
      return 0;
    },
  },
  ...Object.fromEntries(
    SHELLS.map((shell): [string, InstanceCommand] => [
      `completion ${shell}`,
      {
        summary: `print a script that makes ${shell} complete commands and options`,
        runAsClient: () => {
          print(completion(shell, COMMANDS));
          return 0;
        },
      },
    ]),
  ),
  [CHILD]: {
    summary: "one of several serving processes",
    isInternal: true,
    run: serveAsChild,
  },
};
