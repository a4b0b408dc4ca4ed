import { SETTINGS } from "../config.ts";

export const HELP = `Usage: curt <command>

Commands:
  serve       serve the API and the short addresses
  check       check the configuration, and the store from end to end

Options:
  --help      show this
  --version   show the version

Settings (environment variables, all optional):
${Object.entries(SETTINGS)
  .map(([name, { default: fallback, meaning }]) => `  ${name.padEnd(16)}${meaning} [${fallback}]`)
  .join("\n")}
`;
