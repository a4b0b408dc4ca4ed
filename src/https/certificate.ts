import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { createSecureContext } from "node:tls";

import { isAddress } from "../settings/https.ts";
import { reasonOf } from "../system.ts";

const MAX_FILE_BYTES = 1024 * 1024;

/** A certificate that can be served. */
export interface Certificate {
  /** PEM: its own certificate first, then the chain. */
  readonly cert: string;
  readonly key: string;
  readonly startsMs: number;
  readonly endsMs: number;
  /** As in `URL.hostname`. */
  isFor(host: string): boolean;
}

export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** A certificate, or why there is none. */
export type Reading = Certificate | { readonly trouble: string };

/** Never throws. */
export async function readCertificate(files: CertificateFiles, nowMs: number): Promise<Reading> {
  const { certFile, keyFile } = files;
  const [cert, key] = await Promise.all([readText(certFile), readText(keyFile)]);
  if (typeof cert !== "string") return cert;
  if (typeof key !== "string") return key;
  return checkCertificate({ cert, key }, files, nowMs);
}

/** Whether the texts, which come from these files, can be served. */
export function checkCertificate(
  { cert, key }: Pick<Certificate, "cert" | "key">,
  { certFile, keyFile }: CertificateFiles,
  nowMs: number,
): Reading {
  let leaf: X509Certificate;
  try {
    leaf = new X509Certificate(cert);
  } catch {
    return { trouble: `${certFile} is no certificate in PEM format` };
  }
  try {
    if (!leaf.checkPrivateKey(createPrivateKey(key)))
      return { trouble: `the key in ${keyFile} does not belong to the first certificate in ${certFile}` };
  } catch {
    return { trouble: `${keyFile} is no key in PEM format without a password` };
  }
  try {
    // Reads the rest of the chain, which may be broken, or only half written.
    createSecureContext({ cert, key });
  } catch (cause) {
    return { trouble: `${certFile} and ${keyFile} cannot be served: ${reasonOf(cause)}` };
  }
  const startsMs = Date.parse(leaf.validFrom);
  const endsMs = Date.parse(leaf.validTo);
  if (nowMs >= endsMs) return { trouble: `the certificate in ${certFile} expired on ${leaf.validTo}` };
  return { cert, key, startsMs, endsMs, isFor: (host) => isNamedIn(leaf, host) };
}

/** Clients do not look at the common name any more (RFC 9525, section 2). */
function isNamedIn(leaf: X509Certificate, host: string): boolean {
  if (isAddress(host)) return leaf.checkIP(host.replace(/^\[|\]$/g, "")) !== undefined;
  return leaf.checkHost(host, { subject: "never" }) !== undefined;
}

async function readText(path: string): Promise<string | { readonly trouble: string }> {
  try {
    const found = await stat(path);
    // A pipe would give it only once, and a device without end.
    if (!found.isFile() || found.size > MAX_FILE_BYTES)
      return { trouble: `${path} is not a file of at most 1 MiB` };
    return await readFile(path, "utf8");
  } catch (cause) {
    return { trouble: `cannot read ${path}: ${reasonOf(cause)}` };
  }
}
