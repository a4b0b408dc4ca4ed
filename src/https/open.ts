import { type Config, ConfigError } from "../config.ts";
import type { Log } from "../log.ts";
import { type Repetition, repeat } from "../repeat.ts";
import type { Https } from "../settings/https.ts";
import { type Certificate, readCertificate } from "./certificate.ts";
import { watchCertificate } from "./renewed.ts";

const READ_EVERY_MS = 10_000;

/** Tests set a lower one, so that they need not wait. */
export interface CertificateLimits {
  readonly readCertificateEveryMs?: number;
}

export interface OpenCertificate {
  readonly first: Certificate;
  /** Looks at the files again and again, and lets the server use a certificate that is new. */
  follow(
    use: (certificate: Certificate) => void,
    onFault: (error: unknown) => void,
    limits?: CertificateLimits,
  ): Repetition;
}

/** Throws `ConfigError` if it cannot be served. */
export async function openCertificate({ baseUrl }: Config, files: Https, log: Log): Promise<OpenCertificate> {
  const first = await readCertificate(files, Date.now());
  if ("trouble" in first) throw new ConfigError([`TLS_CERT and TLS_KEY cannot be used: ${first.trouble}`]);
  const { hostname } = new URL(baseUrl);
  warnOfHost(first);
  return {
    first,
    follow(use, onFault, { readCertificateEveryMs = READ_EVERY_MS } = {}) {
      const look = watchCertificate(files, first, {
        nowMs: Date.now,
        use(certificate) {
          use(certificate);
          warnOfHost(certificate);
          log.info({ ends: new Date(certificate.endsMs) }, "a new certificate is in use");
        },
        onTrouble: (trouble) =>
          log.error({ trouble }, "the new certificate cannot be used: the old one stays in use"),
        onEndsSoon: (endsMs) =>
          log.warn({ ends: new Date(endsMs) }, "the certificate ends soon and was not renewed"),
      });
      return repeat(readCertificateEveryMs, look, onFault);
    },
  };

  function warnOfHost({ isFor }: Certificate): void {
    if (isFor(hostname)) return;
    log.warn(
      { host: hostname },
      "the certificate in TLS_CERT is not for the host of BASE_URL: browsers will refuse it",
    );
  }
}
