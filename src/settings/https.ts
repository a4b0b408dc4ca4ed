import { isIP } from "node:net";

import { type Format, oneOf, orAuto, orOff, path, secureUrl, wholeNumber } from "./formats.ts";
import type { Setting } from "./setting.ts";
import type { Values } from "./settings.ts";

const aPort = wholeNumber(0, 65_535);

const directory: Format<string> = { ...secureUrl, right: "an https:// address" };

/** For an instance that visitors reach without a proxy. */
export const HTTPS_SETTINGS = {
  https: {
    name: "HTTPS",
    default: "off",
    meaning:
      "auto gets a certificate for the hosts of BASE_URL and ALIASES and renews it; off is for a proxy, or for a certificate in TLS_CERT",
    takes: oneOf("off", "auto"),
  },
  tlsCert: {
    name: "TLS_CERT",
    default: "none",
    unset: null,
    meaning:
      "PEM file of a certificate and its chain; Curt then serves HTTPS, and reads the file again when it changes",
    takes: path,
  },
  tlsKey: {
    name: "TLS_KEY",
    default: "none",
    unset: null,
    meaning: "PEM file of the key that belongs to the certificate in TLS_CERT",
    takes: path,
  },
  httpPort: {
    name: "HTTP_PORT",
    default: "auto",
    meaning:
      "port that redirects http:// to https://, and where the certificate authority asks; auto is 80 with HTTPS on port 443 and otherwise off",
    takes: orAuto(orOff(aPort)),
  },
  acmeDirectory: {
    name: "ACME_DIRECTORY",
    default: "https://acme-v02.api.letsencrypt.org/directory",
    meaning: "certificate authority that HTTPS=auto asks: the address of its ACME directory",
    takes: directory,
  },
} satisfies Record<string, Setting>;

type Names = "host" | "port" | "baseUrl" | "https" | "tlsCert" | "tlsKey" | "httpPort";
type HttpsValues = { readonly [Name in Names]?: Values[Name] | undefined };

/** Where the certificate comes from, and the port that leads to HTTPS. */
export interface Https {
  /** Both may be in one file. */
  readonly certFile: string;
  readonly keyFile: string;
  readonly httpPort: number | null;
  readonly own: OwnCertificate | null;
}

/** A certificate that Curt gets itself. */
export interface OwnCertificate {
  readonly folder: string;
  readonly hosts: readonly string[];
  /** Address of the authority's ACME directory. */
  readonly directory: string;
}

/** Mistakes in how these settings go together. One that is already reported as wrong is undefined here. */
export function httpsConflicts({
  host,
  port,
  baseUrl,
  https,
  tlsCert,
  tlsKey,
  httpPort,
}: HttpsValues): string[] {
  const mistakes: string[] = [];
  const isOn = https === "auto" || Boolean(tlsCert);
  if (Boolean(tlsCert) !== Boolean(tlsKey))
    mistakes.push("TLS_CERT and TLS_KEY belong together: set both or neither");
  if (https === "auto" && tlsCert)
    mistakes.push("HTTPS=auto gets a certificate itself: set either HTTPS or TLS_CERT and TLS_KEY");
  if (isOn && baseUrl !== undefined && !baseUrl?.startsWith("https:"))
    mistakes.push("BASE_URL must begin with https:// when Curt serves HTTPS itself");
  if (!isOn && typeof httpPort === "number")
    mistakes.push("HTTP_PORT needs HTTPS=auto, or TLS_CERT and TLS_KEY");
  if (typeof httpPort === "number" && httpPort !== 0 && httpPort === portOf({ port, isOn }))
    mistakes.push("HTTP_PORT and PORT must be two ports");
  if (https !== "auto") return mistakes;
  if (baseUrl && isAddress(new URL(baseUrl).hostname))
    mistakes.push("HTTPS=auto needs a host name in BASE_URL, not an address");
  if (host === "localhost")
    mistakes.push(
      "HTTPS=auto needs HOST=0.0.0.0 or HOST=::, because the certificate authority must reach Curt",
    );
  if (httpPort === "off")
    mistakes.push("HTTPS=auto needs HTTP_PORT: the certificate authority asks there, on port 80 of the host");
  return mistakes;
}

/** The port that Curt listens on. */
export function portOf<Port extends number | undefined>({
  port,
  isOn,
}: {
  readonly port: Port | "auto";
  readonly isOn: boolean;
}): Port | number {
  if (port !== "auto") return port;
  return isOn ? 443 : 3000;
}

/** Null if Curt does not serve HTTPS itself. `folderOf` tells where a certificate authority's files are kept. */
export function settleHttps(
  values: Pick<Values, "https" | "tlsCert" | "tlsKey" | "httpPort" | "port" | "aliases" | "acmeDirectory">,
  baseUrl: string,
  folderOf: (authority: string) => string,
): Https | null {
  const { https, tlsCert, tlsKey, httpPort, acmeDirectory } = values;
  if (https === "off" && tlsCert === null) return null;
  const automatic = https === "auto" || values.port === 443 ? 80 : "off";
  const chosen = httpPort === "auto" ? automatic : httpPort;
  const plain = chosen === "off" ? null : chosen;
  if (tlsCert !== null && tlsKey !== null)
    return { certFile: tlsCert, keyFile: tlsKey, httpPort: plain, own: null };
  // Certificates of a test authority must not be taken for those of the real one.
  const folder = folderOf(new URL(acmeDirectory).host.replace(":", "_"));
  const hosts = [new URL(baseUrl).hostname, ...values.aliases].filter((name) => !isAddress(name));
  const file = `${folder}/certificate.pem`;
  const own = { folder, hosts: [...new Set(hosts)], directory: acmeDirectory };
  return { certFile: file, keyFile: file, httpPort: plain, own };
}

/** As in `URL.hostname`. */
export const isAddress = (hostName: string) => hostName.startsWith("[") || isIP(hostName) !== 0;
