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

/** Run once more, over PostgreSQL. */
const OVER_POSTGRES = [
  "test/processes.test.ts",
  "test/durability/kill.test.ts",
  "test/visit-limit.test.ts",
  "test/browser/make.test.ts",
  "test/browser/preview.test.ts",
];

async function run(command: string[], env: Readonly<Record<string, string>> = {}): Promise<boolean> {
  const child = Bun.spawn(command, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ["ignore", "inherit", "inherit"],
  });
  return (await child.exited) === 0;
}

interface Outcome {
  readonly passed: number;
  readonly failed: number;
}

/** Runs test files, all of them if none is given. */
async function runTests(files: readonly string[], store: "sqlite" | "postgres"): Promise<Outcome> {
  using folder = temporaryFolder();
  const report = join(folder.path, "report.xml");
  const options = [
    `--timeout=${LIMIT_MS}`,
    `--parallel=${FILES_AT_ONCE}`,
    // All files of a process share one browser and one database server.
    "--no-isolate",
    "--reporter=junit",
    `--reporter-outfile=${report}`,
  ];
  const isFine = await run([process.execPath, "test", ...options, ...files], { STORE: store });

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
  return {
    passed: count("tests") - leftOut.length - notPassed,
    failed: Math.max(notPassed, isFine ? 0 : 1),
  };
}

/** The checks count as one test. */
async function check(): Promise<Outcome> {
  const isFine = await run(["npm", "run", "--silent", "check"]);
  return isFine ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}
const files = process.argv.slice(2);
const outcomes =
  files.length > 0
    ? [await runTests(files, process.env["STORE"] === "postgres" ? "postgres" : "sqlite")]
    : [await check(), await runTests([], "sqlite"), await runTests(OVER_POSTGRES, "postgres")];
const total = (name: keyof Outcome) => outcomes.reduce((sum, outcome) => sum + outcome[name], 0);
console.log(`\n${total("passed")} passed, ${total("failed")} failed`);
process.exitCode = total("failed") === 0 ? 0 : 1;
