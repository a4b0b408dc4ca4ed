// Loaded before every test run (bunfig.toml). What is closed here is closed once, after the last file.
import { afterAll } from "bun:test";

import { closeBrowser } from "./browser/browser.ts";

afterAll(closeBrowser);
