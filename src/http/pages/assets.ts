import Negotiator from "negotiator";

import { type Asset, assets } from "../../pages/assets/assets.ts";
import { LOAD_NOTHING } from "../answers.ts";
import type { Call } from "../call.ts";

const FOR_EVER = "public, max-age=31536000, immutable";
const DAY = "public, max-age=86400";

/** What the pages load, by address: the address changes with the content, so that caches need never ask again. */
export const assetRoutes: Readonly<Record<string, (call: Call) => Response>> = {
  ...Object.fromEntries(Object.values(assets).map((asset) => [asset.path, serve(asset, FOR_EVER)])),
  // Asked for by browsers that show something else than a page of ours.
  "/favicon.ico": serve(assets.touchIcon, DAY),
};

function serve({ type, body, encoding }: Asset, cacheControl: string): (call: Call) => Response {
  const bytes = Buffer.from(body, encoding);
  const zipped = encoding === "utf8" ? Bun.gzipSync(bytes, { level: 9 }) : undefined;
  const headers = {
    "Content-Type": type,
    "Cache-Control": cacheControl,
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": LOAD_NOTHING,
    Vary: "Accept-Encoding",
  };
  return ({ headers: asked }) => {
    const accepted = { headers: { "accept-encoding": asked.get("accept-encoding") ?? undefined } };
    const isZipped =
      zipped !== undefined && new Negotiator(accepted).encoding(["gzip", "identity"]) === "gzip";
    return isZipped
      ? new Response(zipped, { headers: { ...headers, "Content-Encoding": "gzip" } })
      : new Response(bytes, { headers });
  };
}
