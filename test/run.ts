// `npm test`: the checks, then every test. `npm test -- FILE…`: the tests of these files, without the checks. The last
// line counts what passed and what failed.
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";

import { NEEDS_LINUX } from "./linux.ts";
import { ROOT, temporaryFolder } from "./service.ts";

/** No test asserts a time: this limit only ends one that hangs, on the slowest machine too. */
const LIMIT_MS = 180_000;
/** Some tests wait, for a time-out of Bun or for a drain, and leave the processor to another file. */
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
  // The files that a process runs share one browser.
  "--no-isolate",
  "--reporter=junit",
  `--reporter-outfile=${report}`,
  ...files,
]);

const xml = readFileSync(report, "utf8");
const [totals = ""] = /<testsuites [^>]*>/.exec(xml) ?? [];
const count = (name: string) => Number(new RegExp(` ${name}="(\\d+)"`).exec(totals)?.[1] ?? Number.NaN);
// Nothing may be left out, except what needs Linux, elsewhere.
const leftOut = [...xml.matchAll(/<testcase name="([^"]*)"[^>]*>\s*<skipped/g)]
  .map(([, name = ""]) => name)
  .filter((name) => process.platform !== "linux" && Object.hasOwn(NEEDS_LINUX, name));
for (const name of leftOut) console.log(`left out, needs Linux: ${name} (${NEEDS_LINUX[name]})`);
const notPassed = count("failures") + count("skipped") - leftOut.length;
// What fails outside of a test is in no total.
const failed = Math.max(notPassed, isFine ? 0 : 1) + checks.filter((passed) => !passed).length;
const passed = count("tests") - leftOut.length - notPassed + checks.filter(Boolean).length;
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
