/** Something that pages load. */
export interface Asset {
  /** Its address. It changes with the content, so that it can be kept for ever. */
  readonly path: string;
  readonly type: string;
  readonly body: string;
  readonly encoding: "utf8" | "base64";
}

/** `file` is how its address ends, but for a hash. */
export function asset(file: string, type: string, body: string, encoding: Asset["encoding"] = "utf8"): Asset {
  const [, name, extension] = /^(.+)\.(\w+)$/.exec(file) ?? [];
  const hash = new Bun.CryptoHasher("sha256").update(body).digest("hex").slice(0, 10);
  return { path: `/.assets/${name}-${hash}.${extension}`, type, body, encoding };
}
