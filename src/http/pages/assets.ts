import { once } from "../../memoize.ts";
import { type Asset, assets } from "../../pages/assets/assets.ts";
import { answer } from "../answers.ts";
import type { Call } from "../call.ts";
import { acceptsGzip } from "../compression.ts";

const FOR_EVER = "public, max-age=31536000, immutable";
const DAY = "public, max-age=86400";

/** What the pages load, by address: the address changes with the content, so that caches need never ask again. */
export const assetRoutes: Readonly<Record<string, (call: Call) => Response>> = {
  ...Object.fromEntries(Object.values(assets).map((asset) => [asset.path, serve(asset, FOR_EVER)])),
  // Asked for by browsers that show something else than a page of ours.
  "/favicon.ico": serve(assets.touchIcon, DAY),
};

function serve({ type, body, encoding }: Asset, cache: string): (call: Call) => Response {
  const bytes = once(() => Buffer.from(body, encoding));
  const zipped = once(() => Bun.gzipSync(bytes(), { level: 9 }));
  const vary = { Vary: "Accept-Encoding" };
  return ({ headers: asked }) => {
    return encoding === "utf8" && acceptsGzip(asked.get("accept-encoding"))
      ? answer({ type, cache, body: zipped(), headers: { ...vary, "Content-Encoding": "gzip" } })
      : answer({ type, cache, body: bytes(), headers: vary });
  };
}
