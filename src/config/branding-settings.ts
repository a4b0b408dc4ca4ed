import { accent } from "./accent.ts";
import { contact, words } from "./formats.ts";
import { logo } from "./logo.ts";
import type { Setting } from "./setting.ts";

/** Whose service it is, as its pages show it. */
export const IDENTITY_SETTINGS = {
  contact: {
    name: "CONTACT",
    default: "none",
    unset: null,
    meaning:
      "e-mail address or https:// page of the operator, shown on every page and published in /.well-known/security.txt",
    takes: contact,
  },
  instanceName: {
    name: "INSTANCE_NAME",
    default: "Curt",
    meaning: "name of this service on its pages",
    takes: words(30),
  },
  accent: {
    name: "ACCENT",
    default: "green",
    unset: null,
    meaning:
      "colour of buttons and links, such as #0b6e4f, or one for light and one for dark mode, such as #0b6e4f,#5cc9a1; the start checks that it can be read",
    takes: accent,
  },
  logo: {
    name: "LOGO",
    default: "Curt's",
    unset: null,
    meaning: "square SVG or PNG file of at most 32 KiB that the pages show instead of Curt's mark",
    takes: logo,
  },
} satisfies Record<string, Setting>;
