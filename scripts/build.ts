// `npm run build`: one executable with everything inside, for a machine with neither Node nor Bun.
import { resolve } from "node:path";

const root = resolve(import.meta.dir, "..");

/**
 * Worker threads are entry points of their own. Inside the executable all entry points lie in one folder, where
 * `new URL("./writer.ts", import.meta.url)` finds them: their file names must differ.
 */
const ENTRY_POINTS = ["src/main.ts", "src/store/sqlite/writer.ts", "src/visits/journal/slicer.ts"];

/** Other systems than this one that a release has an executable for. Bun's are fetched from npm. */
export type Target = "bun-linux-x64" | "bun-linux-arm64" | "bun-darwin-x64" | "bun-darwin-arm64";

/** Compiles the program, for this machine unless another is named, and returns the path of the executable. */
export async function build(outfile = resolve(root, "dist/curt"), target?: Target): Promise<string> {
  const result = await Bun.build({
    entrypoints: ENTRY_POINTS.map((path) => resolve(root, path)),
    naming: { entry: "[name].[ext]" },
    compile: {
      outfile,
      ...(target !== undefined && { target }),
      // What lies in the folder it is started in is the operator's business, not the program's.
      autoloadDotenv: false,
      autoloadBunfig: false,
    },
  });
  if (!result.success) throw new AggregateError(result.logs, "the build failed");
  return outfile;
}

if (import.meta.main) console.log(await build());
