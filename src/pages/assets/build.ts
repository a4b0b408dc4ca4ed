import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface Asset {
  /** Its address. It changes with the content, so that it can be kept for ever. */
  readonly path: string;
  readonly type: string;
  readonly body: string;
  readonly encoding: "utf8" | "base64";
}

type Name = "style" | "script" | "icon" | "touchIcon" | "largeIcon" | "manifest";

/**
 * Everything that the pages load, hashed. It runs as a macro, when the code that asks for it is
 * compiled, so an executable has it inside.
 */
export function buildAssets(): Record<Name, Asset> {
  const style = asset("style.css", "text/css; charset=utf-8", read("../style.css").toString("utf8"));
  const script = asset("script.js", "text/javascript; charset=utf-8", bundleScript("../browser/main.ts"));
  const icon = asset("icon.svg", "image/svg+xml", read("icon.svg").toString("utf8"));
  const touchIcon = picture("icon-180.png");
  const largeIcon = picture("icon-512.png");
  const manifest = asset("curt.webmanifest", "application/manifest+json", describeApp(icon, largeIcon));
  return { style, script, icon, touchIcon, largeIcon, manifest };
}

/** Web Application Manifest; an installed Curt is offered where a phone shares a page (Web Share Target). */
function describeApp(icon: Asset, largeIcon: Asset): string {
  return JSON.stringify({
    id: "/",
    name: "Curt",
    short_name: "Curt",
    start_url: "/",
    scope: "/",
    display: "minimal-ui",
    background_color: "#fbfaf7",
    theme_color: "#0b6e4f",
    icons: [
      { src: icon.path, sizes: "any", type: icon.type },
      { src: largeIcon.path, sizes: "512x512", type: largeIcon.type, purpose: "any maskable" },
    ],
    share_target: {
      action: "/",
      method: "GET",
      enctype: "application/x-www-form-urlencoded",
      params: { url: "original_url", text: "text", title: "title" },
    },
  });
}

function asset(file: string, type: string, body: string, encoding: Asset["encoding"] = "utf8"): Asset {
  const [, name, extension] = /^(.+)\.(\w+)$/.exec(file) ?? [];
  const hash = new Bun.CryptoHasher("sha256").update(body).digest("hex").slice(0, 10);
  return { path: `/.assets/${name}-${hash}.${extension}`, type, body, encoding };
}

function picture(file: string): Asset {
  return asset(file, "image/png", read(file).toString("base64"), "base64");
}

function read(file: string): Buffer {
  return readFileSync(join(import.meta.dir, file));
}

/** `Bun.build` waits for ever inside a macro; a process of its own does not. */
function bundleScript(entry: string): string {
  const command = [process.execPath, "build", join(import.meta.dir, entry), "--minify", "--target=browser"];
  const { success, stdout, stderr } = Bun.spawnSync(command);
  if (!success) throw new Error(`${entry} does not compile: ${stderr.toString()}`);
  return stdout.toString();
}
