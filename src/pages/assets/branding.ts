import { type Asset, type FormPath, type Identity, type IdentityAssets } from "../../http/page.ts";
import { asset } from "../shared/asset.ts";
import { buildAssets } from "./build.ts" with { type: "macro" };

/** The colour of links and buttons, as # and six hexadecimal digits. */
interface Accent {
  readonly light: string;
  readonly dark: string;
}

interface Logo extends Pick<Asset, "type" | "body" | "encoding"> {
  /** Such as 512x512, or "any" if it scales. */
  readonly sizes: string;
}

export interface IdentityOptions {
  readonly instanceName: string;
  readonly contact: string | null;
  readonly accent: Accent | null;
  readonly logo: Logo | null;
  readonly createUserHeader?: string | null;
}

/** The assets that pages load unless the operator configures others. @internal */
export const assets = buildAssets();

const GREEN = "#0b6e4f";

export function createIdentity(
  { instanceName: name, contact, accent, logo, createUserHeader = null }: IdentityOptions,
  formPath: FormPath = "/",
): Identity {
  const { operatorStyle, script, myLinks } = assets;
  const style = accent === null ? assets.style : styleWith(accent);
  const icons = logo === null ? ourIcons(accent) : iconsOf(logo);
  const manifest = asset(
    "app.webmanifest",
    "application/manifest+json",
    describeApp(
      name,
      formPath,
      accent?.light ?? GREEN,
      logo === null ? ourAppIcons(icons) : [appIcon(icons.icon, logo.sizes)],
    ),
  );
  const hasPeople = createUserHeader !== null;
  const all = { style, operatorStyle, script, myLinks, ...icons, manifest };
  return { name, contact, formPath, hasPeople, assets: all };
}

/** The identity without settings. */
export const CURT = createIdentity({ instanceName: "Curt", contact: null, accent: null, logo: null });

function styleWith({ light, dark }: Accent): Asset {
  const { type, body } = assets.style;
  const colours = `:root{--mark:${light}}@media (prefers-color-scheme:dark){:root{--mark:${dark}}}\n`;
  return asset("style.css", type, body + colours);
}

type Icons = Pick<IdentityAssets, "icon" | "touchIcon" | "largeIcon">;

function ourIcons(accent: Accent | null): Icons {
  const { icon, touchIcon, largeIcon } = assets;
  if (accent === null) return { icon, touchIcon, largeIcon };
  // The PNG icons are green.
  return { icon: asset("icon.svg", icon.type, icon.body.replace(GREEN, accent.light)) };
}

function iconsOf({ type, body, encoding }: Logo): Icons {
  const isPng = type === "image/png";
  const logo = asset(isPng ? "logo.png" : "logo.svg", type, body, encoding);
  return { icon: logo, ...(isPng && { touchIcon: logo, largeIcon: logo }) };
}

/** Web Application Manifest. Phones offer an installed Curt when they share a page (Web Share Target). */
function describeApp(
  name: string,
  formPath: FormPath,
  theme_color: string,
  icons: readonly object[],
): string {
  return JSON.stringify({
    id: "/",
    name,
    short_name: name,
    start_url: formPath,
    scope: "/",
    display: "minimal-ui",
    background_color: "#fbfaf7",
    theme_color,
    icons,
    share_target: {
      action: formPath,
      method: "GET",
      enctype: "application/x-www-form-urlencoded",
      // The title of a page isn't that of a link, which its maker writes.
      params: { url: "original_url", text: "text", title: "page_title" },
    },
  });
}

function ourAppIcons({ icon, largeIcon }: Icons): object[] {
  const scalable = appIcon(icon, "any");
  return largeIcon === undefined
    ? [scalable]
    : [scalable, { ...appIcon(largeIcon, "512x512"), purpose: "any maskable" }];
}

function appIcon({ path, type }: Asset, sizes: string): object {
  return { src: path, sizes, type };
}
