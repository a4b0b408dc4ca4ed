// `npm test` runs the checks and all tests. `npm test -- FILE…` runs the tests of these files, without the checks.
// The last line of the output says how many passed and failed.
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";

import { NEEDS_LINUX } from "./linux.ts";
import { ROOT, temporaryFolder } from "./service.ts";

/** Only for tests that hang. It is long enough for slow machines, because no test asserts how fast something is. */
const LIMIT_MS = 180_000;
/** One more than there are processors, because some tests mostly wait for time-outs or drains. */
const FILES_AT_ONCE = availableParallelism() + 1;

async function run(command: string[]): Promise<boolean> {
  const child = Bun.spawn(command, { cwd: ROOT, stdio: ["ignore", "inherit", "inherit"] });
  return (await child.exited) === 0;
}

using folder = temporaryFolder();
const report = join(folder.path, "report.xml");
const files = process.argv.slice(2);
// The checks count as one test.
const checks = files.length > 0 ? [] : [await run(["npm", "run", "--silent", "check"])];
const isFine = await run([
  process.execPath,
  "test",
  `--timeout=${LIMIT_MS}`,
  `--parallel=${FILES_AT_ONCE}`,
  // All files of a process share one browser.
  "--no-isolate",
  "--reporter=junit",
  `--reporter-outfile=${report}`,
  ...files,
]);

const xml = readFileSync(report, "utf8");
const [totals = ""] = /<testsuites [^>]*>/.exec(xml) ?? [];
const count = (name: string) => Number(new RegExp(` ${name}="(\\d+)"`).exec(totals)?.[1] ?? Number.NaN);
// Skipped tests count as failed, except those that need Linux, on other systems.
const leftOut = [...xml.matchAll(/<testcase name="([^"]*)"[^>]*>\s*<skipped/g)]
  .map(([, name = ""]) => name)
  .filter((name) => process.platform !== "linux" && Object.hasOwn(NEEDS_LINUX, name));
for (const name of leftOut) console.log(`left out, needs Linux: ${name} (${NEEDS_LINUX[name]})`);
const notPassed = count("failures") + count("skipped") - leftOut.length;
// Failures outside of tests are in no total, so also look at the exit code.
const failed = Math.max(notPassed, isFine ? 0 : 1) + checks.filter((passed) => !passed).length;
const passed = count("tests") - leftOut.length - notPassed + checks.filter(Boolean).length;
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
