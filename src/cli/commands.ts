import { CHILD, serveAsChild } from "../server/child-process.ts";
import { REDIRECT_FORMATS } from "../transfer/redirects/redirect-formats.ts";
import { backup, restore } from "./backup.ts";
import { check } from "./check.ts";
import type { Commands } from "./command.ts";
import { completion, SHELLS } from "./completion.ts";
import { demo, DEMO_SERVER } from "./demo.ts";
import { printEvents } from "./events.ts";
import { exportAs } from "./export-redirects.ts";
import { INSTANCE_COMMANDS } from "./instance-commands.ts";
import { prove } from "./prove.ts";
import { serve } from "./serve.ts";
import { print } from "./terminal/print.ts";
import { trustClock } from "./trust-clock.ts";

export const COMMANDS: Commands = {
  serve: {
    group: "Serve links",
    summary: "serve the API, the pages and the short addresses",
    example: "DATA_DIR=/srv/links BASE_URL=https://go.example.com curt serve",
    serves: true,
    run: serve,
  },
  check: {
    group: "Serve links",
    summary: "check the configuration and the whole store, also while Curt runs",
    example: "DATA_DIR=/srv/links curt check",
    run: check,
  },
  backup: {
    group: "Keep the data",
    summary: "back up the SQLite store into one file, also while Curt runs",
    example: "curt backup /backup/monday.db",
    positionals: { FILE: { meaning: "file to create; never overwrites one" } },
    run: backup,
  },
  restore: {
    group: "Keep the data",
    summary: "create a SQLite store from a backup; never overwrites one",
    example: "DATA_DIR=/srv/new curt restore /backup/monday.db",
    positionals: { FILE: { meaning: "backup to restore" } },
    options: {
      to: { value: "URL", meaning: "store to create, such as sqlite:./restored.db [DATABASE_URL]" },
    },
    run: restore,
  },
  export: {
    group: "Keep the data",
    summary: "write the whole store, or only its redirects, to a file",
    example: "curt export --format nginx links.conf",
    positionals: { FILE: { meaning: "file to create, or - for standard output; never overwrites one" } },
    options: {
      format: {
        value: "FORMAT",
        values: ["full", ...Object.keys(REDIRECT_FORMATS)],
        meaning: "format of the file; full, the default, has everything, the others only redirects",
      },
      ending: { meaning: "also write redirects that end later, with the time in a comment" },
    },
    run: exportAs,
  },
  import: {
    group: "Keep the data",
    summary: "import links from an export, or files of other shorteners",
    example: "curt import --dry-run links.csv",
    positionals: { FILE: { meaning: "file to read, or - for standard input" } },
    options: {
      visits: { value: "FILE", meaning: "also import the visits by day from this CSV file" },
      new: { meaning: "create the store if there is none" },
      "dry-run": { meaning: "report what an import would do, and change nothing" },
      domain: { value: "HOST", meaning: "import only addresses of this host, from other shorteners" },
      "keep-odd": { meaning: "also import codes that new links can't have" },
      "skip-bad": { meaning: "skip broken lines" },
      report: { value: "FILE", meaning: "write all skipped rows to this file, replacing it" },
    },
    // Its reader of CSV would delay the start of every other command.
    run: async (config, args) => (await import("./import.ts")).importFile(config, args),
  },
  events: {
    group: "Keep the data",
    summary: "print the events that wait for EVENTS_URL, and the last ones sent",
    example: "curt events --follow",
    options: {
      follow: { meaning: "keep running, and print new events" },
      refused: { meaning: "print the events that EVENTS_URL refused" },
      resend: { meaning: "send refused events now" },
    },
    run: printEvents,
  },
  "trust-clock": {
    group: "Serve links",
    summary: "confirm that the clock is right after Curt doubted it",
    example: "curt trust-clock",
    options: { yes: { meaning: "don't ask whether the time is right" } },
    run: trustClock,
  },
  demo: {
    group: "Serve links",
    summary: "serve a demonstration: everything works, and nothing lasts",
    example: "curt demo",
    variables: { PORT: "port to listen on [3000]", BASE_URL: "public address [http://localhost:3000]" },
    runAsClient: demo,
  },
  [DEMO_SERVER]: {
    group: "Serve links",
    summary: "the server of a demonstration",
    isInternal: true,
    serves: true,
    run: (config) => serve({ ...config, onlyExamples: true }),
  },
  prove: {
    group: "Serve links",
    summary:
      "create links, kill Curt in the middle, and count which are still there; uses a store of its own",
    example: "curt prove --in /srv",
    options: {
      in: { value: "FOLDER", meaning: "folder on the disk to try [DATA_DIR, or the current one]" },
      database: { value: "URL", meaning: "also try an empty PostgreSQL database, whose tables remain" },
    },
    runAsClient: prove,
  },
  ...INSTANCE_COMMANDS,
  completion: {
    group: "More",
    summary: "print a script that completes commands and options in a shell",
    example: "curt completion bash > ~/.local/share/bash-completion/completions/curt",
    positionals: { SHELL: { meaning: "name of the shell", values: SHELLS } },
    runAsClient(_, { positionals: [shell] }) {
      print(completion(shell as (typeof SHELLS)[number], COMMANDS));
      return 0;
    },
  },
  [CHILD]: {
    group: "More",
    summary: "one of several serving processes",
    isInternal: true,
    run: serveAsChild,
  },
};
