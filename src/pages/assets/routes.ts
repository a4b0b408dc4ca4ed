import type { Call } from "../../http/call.ts";
import { acceptsGzip } from "../../http/compression.ts";
import { answer } from "../../http/responses.ts";
import { once } from "../../lib/memoize.ts";
import type { Identity } from "../shared/branding.ts";
import type { Asset } from "./asset.ts";

const FOR_EVER = "public, max-age=31536000, immutable";
const DAY = "public, max-age=86400";

/** Opened by itself, a picture of the operator's may be styled, but nothing in it runs or is loaded. */
const PICTURE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox; frame-ancestors 'none'";

/** What the pages load, by address: the address changes with the content, so that caches need never ask again. */
export function createAssetRoutes({
  assets,
}: Pick<Identity, "assets">): Record<string, (call: Call) => Response> {
  return {
    ...Object.fromEntries(Object.values(assets).map((asset) => [asset.path, serve(asset, FOR_EVER)])),
    // Asked for by browsers that show something else than a page of ours.
    "/favicon.ico": serve(assets.touchIcon ?? assets.icon, DAY),
  };
}

function serve({ path, type, body, encoding }: Asset, cache: string): (call: Call) => Response {
  const bytes = once(() => Buffer.from(body, encoding));
  const zipped = once(() => Bun.gzipSync(bytes(), { level: 9 }));
  const vary = { Vary: "Accept-Encoding" };
  const policy = path.includes("/logo-") ? { policy: PICTURE_POLICY } : {};
  return ({ headers: asked }) => {
    return encoding === "utf8" && acceptsGzip(asked.get("accept-encoding"))
      ? answer({ type, cache, ...policy, body: zipped(), headers: { ...vary, "Content-Encoding": "gzip" } })
      : answer({ type, cache, ...policy, body: bytes(), headers: vary });
  };
}
