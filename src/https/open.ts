import { type Config, ConfigError } from "../config.ts";
import type { Log } from "../log.ts";
import type { Https } from "../settings/https.ts";
import { type Certificate, readCertificate } from "./certificate.ts";
import { watchCertificate } from "./renewed.ts";

export interface OpenCertificate {
  readonly first: Certificate;
  /** Returns what looks at the files again, and lets the server use a certificate that is new. */
  follow(use: (certificate: Certificate) => void): () => Promise<void>;
}

/** Throws `ConfigError` if it cannot be served. */
export async function openCertificate({ baseUrl }: Config, files: Https, log: Log): Promise<OpenCertificate> {
  const first = await readCertificate(files, Date.now());
  if ("trouble" in first) throw new ConfigError([`TLS_CERT and TLS_KEY cannot be used: ${first.trouble}`]);
  const { hostname } = new URL(baseUrl);
  if (!first.isFor(hostname))
    log.warn(
      { host: hostname },
      "the certificate in TLS_CERT is not for the host of BASE_URL: browsers will refuse it",
    );
  return {
    first,
    follow: (use) =>
      watchCertificate(files, first, {
        nowMs: Date.now,
        use(certificate) {
          use(certificate);
          log.info({ ends: new Date(certificate.endsMs) }, "a new certificate is in use");
        },
        onTrouble: (trouble) =>
          log.error({ trouble }, "the new certificate cannot be used: the old one stays in use"),
        onEndsSoon: (endsMs) =>
          log.warn({ ends: new Date(endsMs) }, "the certificate ends soon and was not renewed"),
      }),
  };
}
