import { type Certificate, type CertificateFiles, readCertificate } from "./certificate.ts";

/** It is told that a certificate ends soon when so much of its life is left. By then, something should have renewed it. */
const LAST_PART = 1 / 6;

export interface RenewedOptions {
  readonly nowMs: () => number;
  /** Puts a new certificate into use. If it throws, the next look tries again. */
  readonly use: (certificate: Certificate) => void;
  /** What is in the files now cannot be served. Told once for each reason. */
  readonly onTrouble: (trouble: string) => void;
  /** Told once for each certificate. */
  readonly onEndsSoon: (endsMs: number) => void;
}

/** Returns what looks at the files again, and puts a certificate into use if there is a new one. */
export function watchCertificate(files: CertificateFiles, first: Certificate, options: RenewedOptions) {
  const { nowMs, use, onTrouble, onEndsSoon } = options;
  let current = first;
  let suspected: string | undefined;
  let told: string | undefined;
  let endsSoonTold: Certificate | undefined;
  return async (): Promise<void> => {
    const read = await readCertificate(files, nowMs());
    const { startsMs, endsMs } = current;
    if (endsMs - nowMs() < (endsMs - startsMs) * LAST_PART && current !== endsSoonTold) {
      endsSoonTold = current;
      onEndsSoon(endsMs);
    }
    if ("trouble" in read) {
      // Two files are not replaced at the same moment, so trouble counts once it is there for the second time.
      if (read.trouble === suspected && read.trouble !== told) onTrouble((told = read.trouble));
      suspected = read.trouble;
      return;
    }
    suspected = told = undefined;
    if (read.cert === current.cert && read.key === current.key) return;
    use(read);
    current = read;
  };
}
