// Loaded before every test run (see bunfig.toml). Closes the shared browser once, after the last file.
import { afterAll } from "bun:test";

import { closeBrowser } from "./browser/browser.ts";

afterAll(closeBrowser);
