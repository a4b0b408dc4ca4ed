// `npm test` runs the checks and all tests outside of test/endurance/. `npm run test:all` also runs the tests in there, and some
// again over PostgreSQL. `npm run test:endurance` runs what `npm test` leaves out. `npm test -- FILE…` runs the tests of
// these files, without the checks. The last line of the output says how many passed and failed.
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";

import { buildModules } from "../scripts/build.ts";
import { unpackBrowser } from "./browser/browser.ts";
import { NEEDS_LINUX } from "./support/linux.ts";
import { ROOT, temporaryFolder } from "./support/service.ts";
import { createWatchedFolder } from "./support/watched-folder.ts";

/** Only for tests that hang. It is long enough for slow machines, because no test asserts how fast something is. */
const LIMIT_MS = 300_000;
/** One more than there are processors, because some tests mostly wait for time-outs or drains. */
const FILES_AT_ONCE = availableParallelism() + 1;

const ENDURANCE = "test/endurance/";
/** `npm test` shows its pages to one reader each (`readers` in test/browser/browser.ts). */
const BROWSER = "test/browser/";

/** One test of the whole service over PostgreSQL. The contracts in test/stores/ are for both engines anyway. */
const SERVICE = ["test/http/link-creation.test.ts"];

/**
 * `npm run test:all` runs these again over PostgreSQL: processes, crashes, and responses and pages that read or write the store.
 * One file in the browser is enough, because pages are the same over any store.
 */
const OVER_POSTGRES = [
  "test/server/processes.test.ts",
  "test/endurance/server/processes.test.ts",
  "test/metrics/processes.test.ts",
  "test/endurance/metrics/processes.test.ts",
  "test/endurance/durability/kill.test.ts",
  "test/endurance/redirect/visit-limit.test.ts",
  "test/browser/create-link.test.ts",
  "test/http/link-creation.test.ts",
  "test/http/preview-hints.test.ts",
  "test/http/views.test.ts",
  "test/http/code-availability.test.ts",
  "test/http/disabled-link.test.ts",
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
  /** Names of tests that failed or were skipped, with their files. */
  readonly names: readonly string[];
}

/** Runs test files. The arguments are those of `bun test`, which runs all files if they name none. */
async function runTests(
  args: readonly string[],
  store: "sqlite" | "postgres",
  filesAtOnce = FILES_AT_ONCE,
): Promise<Outcome> {
  using folder = temporaryFolder();
  const report = join(folder.path, "report.xml");
  const options = [
    `--timeout=${LIMIT_MS}`,
    `--parallel=${filesAtOnce}`,
    // All files of a process share one browser and one database server, which end with it.
    "--no-isolate",
    "--reporter=junit",
    `--reporter-outfile=${report}`,
  ];
  const isFine = await run([process.execPath, "test", ...options, ...args], { STORE: store });

  const xml = readFileSync(report, "utf8");
  const [totals = ""] = /<testsuites [^>]*>/.exec(xml) ?? [];
  const count = (name: string) => Number(new RegExp(` ${name}="(\\d+)"`).exec(totals)?.[1] ?? Number.NaN);
  // Skipped tests count as failed, except those that need Linux, on other systems.
  const unusual = [
    ...xml.matchAll(/<testcase name="([^"]*)"[^>]* file="([^"]*)"[^>]*>\s*<(?:failure|skipped)/g),
  ].map(([, name = "", file = ""]) => ({ name, file }));
  const leftOut = unusual
    .map(({ name }) => name)
    .filter((name) => process.platform !== "linux" && Object.hasOwn(NEEDS_LINUX, name));
  for (const name of leftOut) console.log(`left out, needs Linux: ${name} (${NEEDS_LINUX[name]})`);
  const notPassed = count("failures") + count("skipped") - leftOut.length;
  // Failures outside of tests are in no total, so also look at the exit code.
  return {
    passed: count("tests") - leftOut.length - notPassed,
    failed: Math.max(notPassed, isFine ? 0 : 1),
    names: unusual
      .filter(({ name }) => !leftOut.includes(name))
      .map(({ name, file }) => `${file} over ${store}: ${name}`),
  };
}

/** The checks run beside the tests, which wait a lot. They count as one test, and their output follows that of the tests. */
async function runWithChecks(tests: Promise<Outcome[]>): Promise<Outcome[]> {
  const child = Bun.spawn(["npm", "run", "--silent", "check"], { cwd: ROOT, stdout: "pipe", stderr: "pipe" });
  const ended = Promise.all([child.exited, child.stdout.text(), child.stderr.text()]);
  const outcomes = await tests;
  const [code, output, errors] = await ended;
  console.log(output + errors);
  const checked =
    code === 0 ? { passed: 1, failed: 0, names: [] } : { passed: 0, failed: 1, names: ["npm run check"] };
  return [checked, ...outcomes];
}

/** Tests over PostgreSQL run beside the others, which wait a lot. */
function runBoth(args: readonly string[], overPostgres: readonly string[]): Promise<Outcome[]> {
  return Promise.all([runTests(args, "sqlite"), runTests(overPostgres, "postgres", 1)]);
}

async function runAsAsked(args: readonly string[]): Promise<Outcome[]> {
  switch (args[0]) {
    case undefined:
      return runWithChecks(runBoth([`--path-ignore-patterns=${ENDURANCE}**`], SERVICE));
    case "--all":
      process.env["READERS"] = "all";
      return runWithChecks(runBoth([], OVER_POSTGRES));
    case "--endurance":
      process.env["READERS"] = "all";
      return runBoth([ENDURANCE, BROWSER], OVER_POSTGRES);
    default:
      return [await runTests(args, process.env["STORE"] === "postgres" ? "postgres" : "sqlite")];
  }
}

// Shells complain of a locale that isn't installed.
process.env["LC_ALL"] = "C.UTF-8";
await using folder = createWatchedFolder("curt-test");
const args = process.argv.slice(2);
const areNamed = args.some((arg) => !arg.startsWith("--"));
// Named files unpack it themselves if they need it.
if (process.platform === "linux" && !areNamed) await unpackBrowser(folder.path);
await buildModules(folder.path);
process.env["TEST_FOLDER"] = folder.path;
const outcomes = await runAsAsked(args);
const total = (name: "passed" | "failed") => outcomes.reduce((sum, outcome) => sum + outcome[name], 0);
for (const name of outcomes.flatMap(({ names }) => names)) console.log(`not passed: ${name}`);
console.log(`\n${total("passed")} passed, ${total("failed")} failed`);
process.exitCode = total("failed") === 0 ? 0 : 1;
