import type { NameOf, TermName } from "../links/terms.ts";
import type { InstanceCommand } from "./command.ts";

/** How a command finds its instance. */
const VARIABLES = { CURT_URL: "the instance, such as https://go.example.com [http://localhost:3000]" };
const TOKEN = { CURT_TOKEN: "its CREATE_TOKEN, if it has one" };

const PASSWORD = { CURT_PASSWORD: "the password for --password, so that it does not ask" };
/** How a command finds a manage key. */
const KEY = { key: { type: "string", meaning: "the manage key of the link" } } as const;
const KEYS = {
  XDG_STATE_HOME:
    "the folder of curt/keys, the file of keys: one address and its manage key a line [~/.local/state]",
};
const KEY_VARIABLES = {
  CURT_KEY: "the manage key without --key; without both, the file of keys is read",
  ...KEYS,
};

/** The option of each term. */
const TERMS = {
  "expires-at": {
    type: "string",
    usual: ["24h", "48h", "1week", "1month", "never"],
    meaning: "24h, 48h, 1week, 1month, never, or an instant such as 2027-01-31T23:59:59Z",
  },
  "starts-at": { type: "string", meaning: "when the link starts, written like --expires-at, or now" },
  "max-visits": { type: "string", meaning: "after how many visits the link ends, or unlimited" },
  password: { type: "boolean", meaning: "asks for a password that visitors need" },
  "forward-query": { type: "boolean", meaning: "passes the query of each visit on to the destination" },
} as const satisfies Record<OptionOf<TermName>, unknown>;
type OptionOf<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}-${OptionOf<Rest>}`
  : Name;

/** Options that remove a term. For the others, there is a word. */
const REMOVALS = {
  "no-password": { type: "boolean", meaning: "removes the password" },
  "no-forward-query": { type: "boolean", meaning: "stops passing the query on" },
} as const satisfies Record<`no-${OptionOf<NameOf<"secret" | "flag">>}`, unknown>;

const JSON_OUTPUT = { json: { type: "boolean", meaning: "one JSON object a line" } } as const;

/** The commands for a running instance. They load their modules when they run, and nothing of the server. */
export const INSTANCE_COMMANDS: Readonly<Record<string, InstanceCommand>> = {
  shorten: {
    summary: "shorten addresses: the arguments, or each line of a pipe",
    rest: "URL",
    options: {
      code: { type: "string", meaning: "the code you want, for one address" },
      ...TERMS,
      "keep-key": { type: "boolean", meaning: "add the links and their manage keys to the file of keys" },
      ...JSON_OUTPUT,
    },
    variables: { ...VARIABLES, ...TOKEN, ...PASSWORD, ...KEYS },
    runAsClient: async (environment, args) => (await import("./shorten.ts")).shorten(environment, args),
  },
  info: {
    summary: "show a link; with its manage key, also what its maker sees",
    positionals: ["CODE-OR-ADDRESS"],
    options: { ...KEY, ...JSON_OUTPUT },
    variables: { ...VARIABLES, ...KEY_VARIABLES },
    runAsClient: async (environment, args) => (await import("./manage.ts")).info(environment, args),
  },
  edit: {
    summary: "change a link with its manage key",
    positionals: ["CODE-OR-ADDRESS"],
    options: {
      target: { type: "string", meaning: "where the link leads" },
      ...TERMS,
      ...REMOVALS,
      ...KEY,
      ...JSON_OUTPUT,
    },
    variables: { ...VARIABLES, ...PASSWORD, ...KEY_VARIABLES },
    runAsClient: async (environment, args) => (await import("./manage.ts")).edit(environment, args),
  },
  withdraw: {
    summary: "end a link permanently with its manage key",
    positionals: ["CODE-OR-ADDRESS"],
    options: { ...KEY, ...JSON_OUTPUT },
    variables: { ...VARIABLES, ...KEY_VARIABLES },
    runAsClient: async (environment, args) => (await import("./manage.ts")).withdraw(environment, args),
  },
  stats: {
    summary: "show a link's visits; a public service adds noise to details",
    positionals: ["CODE-OR-ADDRESS"],
    options: {
      days: { type: "string", meaning: "how many days, up to today; 30 if not given" },
      ...JSON_OUTPUT,
    },
    variables: VARIABLES,
    runAsClient: async (environment, args) => (await import("./stats.ts")).stats(environment, args),
  },
  health: {
    summary: "check whether a server is ready",
    variables: { CURT_URL: "the server, such as http://10.0.0.5:3000 [http://$HOST:$PORT]" },
    runAsClient: async (environment) => (await import("./health.ts")).health(environment),
  },
  mcp: {
    summary: "serve tools for a language model on standard input (MCP)",
    variables: { ...VARIABLES, ...TOKEN },
    runAsClient: async (environment) => (await import("./mcp.ts")).mcp(environment),
  },
};
