import type { Call } from "../../http/call.ts";
import { acceptsGzip } from "../../http/compression.ts";
import type { Asset, Identity } from "../../http/page.ts";
import { answer } from "../../http/responses.ts";
import { header } from "../../lib/bounds.ts";
import { once } from "../../lib/memoize.ts";

const FOR_EVER = "public, max-age=31536000, immutable";
const DAY = "public, max-age=86400";

/** An operator's picture may contain styles, but must not run or load anything. */
const PICTURE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox; frame-ancestors 'none'";

/** Asset paths change with their content, so caches never revalidate them. */
export function createAssetRoutes({
  assets,
}: Pick<Identity, "assets">): Record<string, (call: Call) => Response> {
  return {
    ...Object.fromEntries(Object.values(assets).map((asset) => [asset.path, serve(asset, FOR_EVER)])),
    // For browsers that show a response other than our pages.
    "/favicon.ico": serve(assets.touchIcon ?? assets.icon, DAY),
  };
}

function serve({ path, type, body, encoding }: Asset, cache: string): (call: Call) => Response {
  const bytes = once(() => Buffer.from(body, encoding));
  const zipped = once(() => Bun.gzipSync(bytes(), { library: "libdeflate", level: 9 }));
  const vary = { Vary: "Accept-Encoding" };
  const policy = path.includes("/logo-") ? { policy: PICTURE_POLICY } : {};
  return ({ headers }) => {
    return encoding === "utf8" && acceptsGzip(header(headers, "accept-encoding"))
      ? answer({ type, cache, ...policy, body: zipped(), headers: { ...vary, "Content-Encoding": "gzip" } })
      : answer({ type, cache, ...policy, body: bytes(), headers: vary });
  };
}
