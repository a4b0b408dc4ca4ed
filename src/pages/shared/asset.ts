/** A file that pages load. */
export interface Asset {
  /** Its address, which changes with the content, so that caches can keep it forever. */
  readonly path: string;
  readonly type: string;
  readonly body: string;
  readonly encoding: "utf8" | "base64";
}

/** The path ends with `file`, with a hash before the extension. */
export function asset(file: string, type: string, body: string, encoding: Asset["encoding"] = "utf8"): Asset {
  const [, name, extension] = /^(.+)\.(\w+)$/.exec(file) ?? [];
  const hash = new Bun.CryptoHasher("sha256").update(body).digest("hex").slice(0, 10);
  return { path: `/.assets/${name}-${hash}.${extension}`, type, body, encoding };
}
