import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { isIP } from "node:net";
import { createSecureContext } from "node:tls";

import { reasonOf } from "../lib/error-reason.ts";
import type { WarningLog } from "../lib/log.ts";
import { type Config, ConfigError } from "./config.ts";

const MAX_FILE_BYTES = 1024 * 1024;

/** PEM texts. */
export interface Certificate {
  /** The certificate first, then its chain. */
  readonly cert: string;
  readonly key: string;
  /** When the certificate expires. */
  readonly endsMs: number;
}

/** Reads the certificate that Curt serves; undefined if it serves plain HTTP. Throws `ConfigError`. */
export async function readCertificate(
  { tlsCert, tlsKey, baseUrl, domains }: Pick<Config, "tlsCert" | "tlsKey" | "baseUrl" | "domains">,
  log: WarningLog,
): Promise<Certificate | undefined> {
  if (tlsCert === null || tlsKey === null) return undefined;
  const [cert, key] = await Promise.all([readText(tlsCert), readText(tlsKey)]);
  const leaf = checkPair({ cert, key }, tlsCert, tlsKey);
  for (const { hostname } of [baseUrl, ...domains].map((origin) => new URL(origin)))
    if (!isFor(hostname, leaf))
      log.warn(
        { host: hostname },
        "the certificate in TLS_CERT is not for a host of BASE_URL or DOMAINS: browsers will refuse it there",
      );
  return { cert, key, endsMs: Date.parse(leaf.validTo) };
}

/** Returns the server's own certificate. OpenSSL alone would not say which file is wrong. */
function checkPair(
  { cert, key }: Omit<Certificate, "endsMs">,
  certFile: string,
  keyFile: string,
): X509Certificate {
  const leaf = attempt(`${certFile} is not a certificate in PEM format`, () => new X509Certificate(cert));
  const keyOfLeaf = attempt(`${keyFile} is not an unencrypted key in PEM format`, () =>
    createPrivateKey(key),
  );
  if (!leaf.checkPrivateKey(keyOfLeaf))
    throw unusable(`the key in ${keyFile} does not belong to the first certificate in ${certFile}`);
  // Reads the rest of the chain.
  attempt(`${certFile} and ${keyFile} cannot be served`, () => createSecureContext({ cert, key }));
  if (Date.now() >= Date.parse(leaf.validTo))
    throw unusable(`the certificate in ${certFile} expired on ${leaf.validTo}`);
  return leaf;
}

/** Clients do not look at the common name (RFC 9525, section 2). */
function isFor(host: string, leaf: X509Certificate): boolean {
  const address = host.replace(/^\[|\]$/g, "");
  if (isIP(address) !== 0) return leaf.checkIP(address) !== undefined;
  return leaf.checkHost(host, { subject: "never" }) !== undefined;
}

async function readText(path: string): Promise<string> {
  try {
    const file = await stat(path);
    // A device may have no end.
    if (file.isFile() && file.size <= MAX_FILE_BYTES) return await readFile(path, "utf8");
  } catch (cause) {
    throw unusable(`cannot read ${path}: ${reasonOf(cause)}`);
  }
  throw unusable(`${path} is not a file of at most 1 MiB`);
}

function attempt<T>(trouble: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw unusable(`${trouble}: ${reasonOf(cause)}`);
  }
}

const unusable = (trouble: string) => new ConfigError([`TLS_CERT and TLS_KEY cannot be used: ${trouble}`]);
