import { buildAssets } from "./build.ts" with { type: "macro" };

/** What the pages load, by name. */
export const assets = buildAssets();
