import type { InstanceCommand } from "./command.ts";

/** How a command finds its instance. */
const VARIABLES = {
  CURT_URL: "the instance, such as https://go.example.com [http://localhost:3000]",
  CURT_TOKEN: "its CREATE_TOKEN, if it has one",
};

const JSON_OUTPUT = { json: { type: "boolean", meaning: "one JSON object a line" } } as const;

/** The commands for a running instance. They load their modules when they run, and nothing of the server. */
export const INSTANCE_COMMANDS: Readonly<Record<string, InstanceCommand>> = {
  shorten: {
    summary: "shorten addresses: the arguments, or each line of a pipe",
    rest: "URL",
    options: {
      code: { type: "string", meaning: "the code you want, for one address" },
      expires: {
        type: "string",
        usual: ["24h", "48h", "1week", "1month", "never"],
        meaning: "24h, 48h, 1week, 1month, never, or an instant such as 2027-01-31T23:59:59Z",
      },
      starts: { type: "string", meaning: "when the links start, written like --expires" },
      "max-visits": { type: "string", meaning: "after how many visits the links end" },
      password: { type: "boolean", meaning: "asks for a password that visitors need" },
      ...JSON_OUTPUT,
    },
    variables: { ...VARIABLES, CURT_PASSWORD: "the password for --password, so that it does not ask" },
    ask: async (environment, args) => (await import("./shorten.ts")).shorten(environment, args),
  },
  stats: {
    summary: "show how often a link was visited, and from where",
    positionals: ["CODE-OR-ADDRESS"],
    options: {
      days: { type: "string", meaning: "how many days, up to today; 30 if not given" },
      ...JSON_OUTPUT,
    },
    variables: VARIABLES,
    ask: async (environment, args) => (await import("./stats.ts")).stats(environment, args),
  },
  health: {
    summary: "check whether a server is ready, by default the one with the HOST and PORT of the environment",
    variables: { CURT_URL: "the server, such as http://10.0.0.5:3000 [http://$HOST:$PORT]" },
    ask: async (environment) => (await import("./health.ts")).health(environment),
  },
  mcp: {
    summary: "tools for a language model: an MCP server on standard input and output",
    variables: VARIABLES,
    ask: async (environment) => (await import("./mcp.ts")).mcp(environment),
  },
};
