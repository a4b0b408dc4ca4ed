// Loaded before every test run (see bunfig.toml). Closes what the files share once, after the last of them.
import { afterAll } from "bun:test";

import { closeBrowser } from "./browser/browser.ts";
import { closeCommands } from "./cli/commands.ts";
import { closeServer } from "./service.ts";

afterAll(closeBrowser);
afterAll(closeCommands);
afterAll(closeServer);
