// `npm run build`: builds one executable with everything inside, for machines without Node or Bun,
// and the licences of its libraries beside it.
import { parse, resolve } from "node:path";

import { describeLibraries, FILE_NAME } from "./licences.ts";

const root = resolve(import.meta.dir, "..");

/**
 * Each worker thread needs an entry point. The executable puts all entry points into one folder, where
 * `new URL("./writer.ts", import.meta.url)` finds them. So their file names must differ.
 */
const ENTRY_POINTS = [
  "src/main.ts",
  "src/events/events-worker.ts",
  "src/store/sqlite/writer.ts",
  "src/visits/journal/folding-worker.ts",
  "src/moderation/blocklist/list-reader.ts",
  "src/server/views-worker.ts",
].map((path) => resolve(root, path));

const HOST = `bun-${process.platform}-${process.arch}`;

/** The systems that releases have executables for. Bun's own executables for them are fetched from npm. */
export type Target = "bun-linux-x64" | "bun-linux-arm64" | "bun-darwin-x64" | "bun-darwin-arm64";

/** Options of executables and of the npm package. */
const OPTIONS = {
  entrypoints: ENTRY_POINTS,
  naming: { entry: "[name].[ext]" },
  format: "esm",
  // Each thread loads only its part.
  splitting: true,
  // Names stay as they are, because the log shows those of classes and functions.
  minify: { whitespace: true, syntax: true },
  // Libraries must not carry the folder of the machine that built them.
  define: { __dirname: JSON.stringify("/") },
} as const;

/** Compiles the program, by default for this machine. Returns the path of the executable. */
export async function build(outfile = resolve(root, "dist/curt"), target?: Target): Promise<string> {
  const result = await Bun.build({
    ...OPTIONS,
    // Compiling the program beforehand saves half of the start. Bytecode is for the system that builds it: on another one,
    // the program could crash.
    bytecode: target === undefined || target === HOST,
    compile: {
      outfile,
      ...(target !== undefined && { target }),
      // The program must not read files that happen to be in the folder where it is started.
      autoloadDotenv: false,
      autoloadBunfig: false,
    },
  });
  if (!result.success) throw new AggregateError(result.logs, "the build failed");
  return outfile;
}

/** Builds the files of the npm package, which run on any system with Bun. */
export async function buildModules(outdir: string): Promise<void> {
  const result = await Bun.build({ ...OPTIONS, target: "bun", outdir });
  if (!result.success) throw new AggregateError(result.logs, "the build failed");
  // The program starts its threads by the names of their sources.
  for (const path of ENTRY_POINTS.slice(1)) {
    const { name, base } = parse(path);
    await Bun.write(resolve(outdir, base), `import "./${name}.js";\n`);
  }
}

if (import.meta.main) {
  console.log(await build());
  await Bun.write(resolve(root, "dist", FILE_NAME), describeLibraries());
}
