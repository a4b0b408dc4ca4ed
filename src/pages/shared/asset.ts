import type { Asset } from "../../http/page.ts";

/** The path ends with `file`, with a hash before the extension. */
export function asset(file: string, type: string, body: string, encoding: Asset["encoding"] = "utf8"): Asset {
  const [, name, extension] = /^(.+)\.(\w+)$/.exec(file) ?? [];
  const hash = new Bun.CryptoHasher("sha256").update(body).digest("hex").slice(0, 10);
  return { path: `/.assets/${name}-${hash}.${extension}`, type, body, encoding };
}
