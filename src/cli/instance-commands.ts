import type { NameOf, TermName } from "../links/terms/terms.ts";
import type { InstanceCommand, Options } from "./command.ts";

/** How a command finds its instance. */
const VARIABLES = { CURT_URL: "instance, such as https://go.example.com [http://localhost:3000]" };
const TOKEN = { CURT_TOKEN: "CREATE_TOKEN of the instance, if it has one" };

const PASSWORD = { CURT_PASSWORD: "password for --password, which asks for one otherwise" };
const LINK = { LINK: { meaning: "code or short address" } };
/** How a command finds a manage key. */
const KEY = { key: { value: "KEY", meaning: "manage key of the link" } };
const KEYS = {
  XDG_STATE_HOME:
    "folder of the key file, curt/keys, with an address and its manage key per line [~/.local/state]",
};
const KEY_VARIABLES = { CURT_KEY: "manage key without --key; without either, the key file is read", ...KEYS };

/** The option of each term. */
const TERMS = {
  "expires-at": {
    value: "TIME",
    usual: ["24h", "48h", "1week", "1month", "never"],
    meaning: "when the link ends: 24h, 48h, 1week, 1month, never, or a time such as 2027-01-31T23:59:59Z",
  },
  "starts-at": { value: "TIME", meaning: "when the link starts: now, or a time as for --expires-at" },
  "max-visits": { value: "N", meaning: "number of visits after which the link ends, or unlimited" },
  password: { meaning: "require a password from visitors" },
  "forward-query": { meaning: "pass the query of each visit on to the destination" },
  "forward-path": { meaning: "pass the path after the code on, in place of {path} or at the end" },
  title: { value: "TEXT", meaning: "what the link is for; visitors do not see it" },
} satisfies Record<OptionOf<TermName>, Options[string]>;
type OptionOf<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}-${OptionOf<Rest>}`
  : Name;

/** Options that remove a term. For the others, there is a word. */
const REMOVALS = {
  "no-password": { meaning: "remove the password" },
  "no-forward-query": { meaning: "stop passing the query on" },
  "no-forward-path": { meaning: "stop passing the path on" },
  "no-title": { meaning: "remove the title" },
} satisfies Record<`no-${OptionOf<NameOf<"secret" | "flag" | "text">>}`, Options[string]>;

const JSON_OUTPUT = { json: { meaning: "print one JSON object per line" } };

/** The commands for a running instance. They load their modules when they run, and nothing of the server. */
export const INSTANCE_COMMANDS: Readonly<Record<string, InstanceCommand>> = {
  shorten: {
    group: "Use any instance",
    summary: "shorten addresses with any instance",
    example: "curt shorten --code handbook --expires-at 1week https://example.com/long",
    positionals: {
      URL: { meaning: "destination; if none is given, each line of standard input is one", isRepeated: true },
    },
    options: {
      code: { value: "CODE", meaning: "code of the link, for one URL only" },
      ...TERMS,
      "keep-key": { meaning: "add the address and manage key of each link to the key file" },
      ...JSON_OUTPUT,
    },
    variables: { ...VARIABLES, ...TOKEN, ...PASSWORD, ...KEYS },
    runAsClient: async (environment, args) => (await import("./shorten.ts")).shorten(environment, args),
  },
  info: {
    group: "Use any instance",
    summary: "show a link; with its manage key, also its private details",
    example: "curt info go.example.com/handbook",
    positionals: LINK,
    options: { ...KEY, ...JSON_OUTPUT },
    variables: { ...VARIABLES, ...KEY_VARIABLES },
    runAsClient: async (environment, args) => (await import("./manage.ts")).info(environment, args),
  },
  edit: {
    group: "Use any instance",
    summary: "change a link; needs its manage key",
    example: "curt edit --target https://new.example handbook",
    positionals: LINK,
    options: {
      target: { value: "URL", meaning: "new destination" },
      ...TERMS,
      ...REMOVALS,
      ...KEY,
      ...JSON_OUTPUT,
    },
    variables: { ...VARIABLES, ...PASSWORD, ...KEY_VARIABLES },
    runAsClient: async (environment, args) => (await import("./manage.ts")).edit(environment, args),
  },
  withdraw: {
    group: "Use any instance",
    summary: "end a link permanently; needs its manage key",
    example: "curt withdraw handbook",
    positionals: LINK,
    options: { ...KEY, ...JSON_OUTPUT },
    variables: { ...VARIABLES, ...KEY_VARIABLES },
    runAsClient: async (environment, args) => (await import("./manage.ts")).withdraw(environment, args),
  },
  stats: {
    group: "Use any instance",
    summary: "show the visits of a link, with noise in the details of public instances",
    example: "curt stats --days 7 handbook",
    positionals: LINK,
    options: {
      days: { value: "N", meaning: "number of days up to today [30]" },
      ...JSON_OUTPUT,
    },
    variables: VARIABLES,
    runAsClient: async (environment, args) => (await import("./stats.ts")).stats(environment, args),
  },
  health: {
    group: "Serve links",
    summary: "check whether a server is ready",
    example: "CURT_URL=https://go.example.com curt health",
    variables: { CURT_URL: "server, such as http://10.0.0.5:3000 [http://$HOST:$PORT]" },
    runAsClient: async (environment) => (await import("./health.ts")).health(environment),
  },
  mcp: {
    group: "Use any instance",
    summary: "serve tools for a language model over standard input (MCP)",
    example: "CURT_URL=https://go.example.com curt mcp",
    variables: { ...VARIABLES, ...TOKEN },
    runAsClient: async (environment) => (await import("./mcp.ts")).mcp(environment),
  },
};
