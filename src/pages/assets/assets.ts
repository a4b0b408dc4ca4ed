import { buildAssets } from "./build.ts" with { type: "macro" };

export type { Asset } from "./build.ts";

/** What the pages load, by name. */
export const assets = buildAssets();
