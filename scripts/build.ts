// `npm run build`: one executable with everything inside, for a machine with neither Node nor Bun.
import { resolve } from "node:path";

const root = resolve(import.meta.dir, "..");

/**
 * Worker threads are entry points of their own. Inside the executable all entry points lie in one folder, where
 * `new URL("./writer.ts", import.meta.url)` finds them: their file names must differ.
 */
const ENTRY_POINTS = [
  "src/main.ts",
  "src/store/sqlite/writer.ts",
  "src/visits/journal/slicer.ts",
  "src/views.ts",
];

/** Compiles the program for this machine and returns the path of the executable. */
export async function build(outfile = resolve(root, "dist/curt")): Promise<string> {
  const result = await Bun.build({
    entrypoints: ENTRY_POINTS.map((path) => resolve(root, path)),
    naming: { entry: "[name].[ext]" },
    // What lies in the folder it is started in is the operator's business, not the program's.
    compile: { outfile, autoloadDotenv: false, autoloadBunfig: false },
  });
  if (!result.success) throw new AggregateError(result.logs, "the build failed");
  return outfile;
}

if (import.meta.main) console.log(await build());
