import { readFileSync } from "node:fs";
import { join } from "node:path";

import type { Asset } from "../../http/page.ts";
import { asset } from "../shared/asset.ts";

type Name = "style" | "operatorStyle" | "script" | "myLinks" | "icon" | "touchIcon" | "largeIcon";

/** Of two rules with the same specificity, the later one applies. */
const STYLES = [
  "shared/style/base",
  "shared/style/frame",
  "shared/style/button",
  "shared/style/field",
  "shared/style/choices",
  "shared/style/chip",
  "shared/style/fold",
  "shared/style/menu",
  "shared/style/toast",
  "shared/style/link",
  "shared/style/ticket",
  "home/style",
  "qr/style",
  "shared/style/destination",
  "shared/charts/chart",
  "shared/charts/breakdowns",
  "my-links/style",
  "directory/style",
  "shared/style/preferences",
  "reference/style",
  "manage/style",
];

/** For the operator's pages, after the others. The preferences of readers still win. */
const OPERATOR_STYLES = ["admin/style", "shared/style/preferences"];

/** The default assets of all pages. It runs as a macro, so that an executable contains them. */
export function buildAssets(): Record<Name, Asset> {
  const style = styleAsset("style.css", STYLES);
  const operatorStyle = styleAsset("operator.css", OPERATOR_STYLES);
  const script = asset("script.js", "text/javascript; charset=utf-8", bundleScript("script.ts"));
  const myLinks = asset("links.js", script.type, bundleScript("../my-links/script/main.ts"));
  const icon = asset("icon.svg", "image/svg+xml", read("icon.svg").toString("utf8"));
  const touchIcon = picture("icon-180.png");
  const largeIcon = picture("icon-512.png");
  return { style, operatorStyle, script, myLinks, icon, touchIcon, largeIcon };
}

function styleAsset(name: string, styles: readonly string[]): Asset {
  return asset(name, "text/css; charset=utf-8", styles.map(readStyle).join("\n"));
}

function picture(file: string): Asset {
  return asset(file, "image/png", read(file).toString("base64"), "base64");
}

/** Without comments, indents and needless spaces. Line breaks stay where they may separate words. */
function readStyle(name: string): string {
  return read(`../${name}.css`)
    .toString("utf8")
    .replaceAll(/\/\*[\s\S]*?\*\/|(?<=\n)\s+/g, "")
    .replaceAll(PREFIXED, "-webkit-$&$&")
    .replaceAll(/(?<=[{},;])\n+|(?<=[:,]) | (?=\{)/g, "");
}

/**
 * Safari 26 knows these properties only with a prefix. Bun's bundler doesn't add it, and would write logical properties out
 * per language.
 */
const PREFIXED = /^(?:text-size-adjust|user-select|box-decoration-break):.*\n/gm;

function read(file: string): Buffer {
  return readFileSync(join(import.meta.dir, file));
}

/**
 * `Bun.build` hangs inside a macro, so a process bundles. With an inherited `BUN_OPTIONS`, a `--preload` could start it
 * forever.
 */
function bundleScript(entry: string): string {
  const command = [process.execPath, "build", join(import.meta.dir, entry), "--minify", "--target=browser"];
  const { success, stdout, stderr } = Bun.spawnSync(command, { env: {} });
  if (!success) throw new Error(`${entry} does not compile: ${stderr.toString()}`);
  return stdout.toString();
}
