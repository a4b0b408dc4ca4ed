// `npm test`: the checks, then every test, then one plain line that counts them.
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { ROOT, temporaryFolder } from "./service.ts";

async function run(command: string[]): Promise<number> {
  const child = Bun.spawn(command, { cwd: ROOT, stdio: ["ignore", "inherit", "inherit"] });
  return child.exited;
}

using folder = temporaryFolder();
const report = join(folder.path, "report.xml");
const checked = await run(["npm", "run", "--silent", "check"]);
const filters = process.argv.slice(2);
// No test asserts a time: this limit only ends one that hangs, on the slowest machine too.
const LIMIT_MS = 180_000;
const tested = await run([
  process.execPath,
  "test",
  `--timeout=${LIMIT_MS}`,
  "--reporter=junit",
  `--reporter-outfile=${report}`,
  ...filters,
]);

const [totals = ""] = /<testsuites [^>]*>/.exec(readFileSync(report, "utf8")) ?? [];
const count = (name: string) => Number(new RegExp(` ${name}="(\\d+)"`).exec(totals)?.[1] ?? Number.NaN);
// The checks count as one test; a test that is skipped counts as failed, for nothing may be skipped.
const failed = count("failures") + count("skipped") + (checked === 0 ? 0 : 1);
const passed = count("tests") + 1 - failed;
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = checked === 0 && tested === 0 && failed === 0 ? 0 : 1;
