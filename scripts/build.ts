// `npm run build`: one executable with everything inside, for a machine with neither Node nor Bun.
import { resolve } from "node:path";

const root = resolve(import.meta.dir, "..");

/** Compiles the program for this machine and returns the path of the executable. */
export async function build(outfile = resolve(root, "dist/curt")): Promise<string> {
  const result = await Bun.build({
    // The worker thread is an entry point of its own; inside the executable both lie in one folder, where
    // `new URL("./writer.ts", import.meta.url)` finds it.
    entrypoints: [resolve(root, "src/main.ts"), resolve(root, "src/store/sqlite/writer.ts")],
    naming: { entry: "[name].[ext]" },
    // What lies in the folder it is started in is the operator's business, not the program's.
    compile: { outfile, autoloadDotenv: false, autoloadBunfig: false },
  });
  if (!result.success) throw new AggregateError(result.logs, "the build failed");
  return outfile;
}

if (import.meta.main) console.log(await build());
