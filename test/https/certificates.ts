import { writeFileSync } from "node:fs";
import { join } from "node:path";

import * as x509 from "@peculiar/x509";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const HOUR_MS = 3_600_000;

/** An authority that signs certificates. A client that trusts `pem` trusts them. */
export interface Authority {
  readonly pem: string;
  sign(request: SignRequest): Promise<string>;
}

interface SignRequest {
  readonly hosts: readonly string[];
  readonly publicKey: x509.PublicKeyType;
  readonly startsMs?: number;
  readonly lastsMs?: number;
}

let serial = Date.now();
const nextSerial = () => (serial++).toString(16).padStart(16, "0");

export async function createAuthority(): Promise<Authority> {
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: nextSerial(),
    name: "CN=Test authority",
    notBefore: new Date(Date.now() - HOUR_MS),
    notAfter: new Date(Date.now() + 24 * HOUR_MS),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [new x509.BasicConstraintsExtension(true, 0, true)],
  });
  return {
    pem: root.toString("pem"),
    async sign({ hosts, publicKey, startsMs = Date.now() - HOUR_MS, lastsMs = 13 * HOUR_MS }) {
      const names = hosts.map((value) => ({ type: value === "127.0.0.1" ? "ip" : "dns", value }) as const);
      const leaf = await x509.X509CertificateGenerator.create({
        serialNumber: nextSerial(),
        subject: "CN=test",
        issuer: root.subject,
        // X.509 has whole seconds.
        notBefore: new Date(startsMs),
        notAfter: new Date(startsMs + lastsMs),
        signingAlgorithm: ALGORITHM,
        publicKey,
        signingKey: keys.privateKey,
        extensions: [new x509.SubjectAlternativeNameExtension(names)],
      });
      return `${leaf.toString("pem")}\n${root.toString("pem")}\n`;
    },
  };
}

export interface Pair {
  readonly cert: string;
  readonly key: string;
}

export async function makePair(
  authority: Authority,
  request: Partial<Omit<SignRequest, "publicKey">> = {},
): Promise<Pair> {
  const { privateKey, publicKey } = await crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const cert = await authority.sign({ hosts: ["curt.example", "127.0.0.1"], publicKey, ...request });
  const key = x509.PemConverter.encode(await crypto.subtle.exportKey("pkcs8", privateKey), "PRIVATE KEY");
  return { cert, key };
}

/** Writes both files, and returns the settings that name them. */
export function storePair(folder: string, { cert, key }: Pair) {
  const files = { TLS_CERT: join(folder, "cert.pem"), TLS_KEY: join(folder, "key.pem") };
  writeFileSync(files.TLS_CERT, cert);
  writeFileSync(files.TLS_KEY, key);
  return files;
}
