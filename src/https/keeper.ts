import { setTimeout } from "node:timers/promises";

import { DAY_MS, HOUR_MS } from "../links/time.ts";
import type { OwnCertificate } from "../settings/https.ts";
import { type Challenges, orderCertificate } from "./acme.ts";
import { type Certificate, checkCertificate, readCertificate } from "./certificate.ts";
import { accountKey, readAttempts, writeAttempts, writeSafely } from "./folder.ts";

/** A certificate is renewed so long before its end, or when a third of its life is left if that is later. */
const RENEWED_BEFORE_MS = 30 * DAY_MS;
/** Up to so much of that time is waited longer, by the name of the host, so that an authority is not asked by all at once. */
const JITTER = 0.1;
/** Doubled after each failure. Let's Encrypt allows 5 failures an hour. */
const FIRST_WAIT_MS = 120_000;
const MAX_WAIT_MS = 12 * HOUR_MS;
/** What an authority asks for is believed up to here. */
const MAX_ASKED_WAIT_MS = 7 * DAY_MS;
/** The machine may be suspended, or another process may renew the certificate: look again after this time. */
const LOOK_AGAIN_MS = HOUR_MS;

export interface KeeperOptions {
  readonly own: OwnCertificate;
  readonly certFile: string;
  /** A mailto: address, or null. */
  readonly contact: string | null;
  readonly challenges: Challenges;
  readonly nowMs: () => number;
  readonly onOrdered: (endsMs: number) => void;
  readonly onFailure: (trouble: string, nextMs: number, stored: Certificate | undefined) => void;
  /** Tests need not wait. */
  readonly firstWaitMs?: number;
}

export interface Keeper {
  /** Resolves once there is a certificate that can be served. */
  readonly ready: Promise<void>;
  stop(): Promise<void>;
}

/** Orders a certificate if there is none, and renews it as long as it runs. */
export function keepCertificate(options: KeeperOptions): Keeper {
  const { own, certFile, nowMs, onOrdered, onFailure, firstWaitMs = FIRST_WAIT_MS } = options;
  const { promise: ready, resolve: setReady } = Promise.withResolvers<void>();
  const stopping = new AbortController();

  /** The stored certificate, if it can be served; and when it must be renewed. */
  async function look(): Promise<{ stored?: Certificate; dueMs: number }> {
    const stored = await readCertificate({ certFile, keyFile: certFile }, nowMs());
    const [main = ""] = own.hosts;
    if ("trouble" in stored || !stored.isFor(main)) return { dueMs: 0 };
    if (!own.hosts.every(stored.isFor)) return { stored, dueMs: 0 };
    const { startsMs, endsMs } = stored;
    const beforeMs = Math.min(RENEWED_BEFORE_MS, (endsMs - startsMs) / 3);
    const part = Bun.hash.crc32(main) / 2 ** 32;
    return { stored, dueMs: endsMs - beforeMs * (1 - JITTER * part) };
  }

  async function order(): Promise<{ endsMs: number } | { trouble: string; waitMs: number }> {
    const { folder, directory, hosts } = own;
    const key = await accountKey(folder);
    const ordered = await orderCertificate({ ...options, directory, hosts, accountKey: key });
    if ("trouble" in ordered) return ordered;
    const checked = checkCertificate(ordered, { certFile: directory, keyFile: directory }, nowMs());
    if ("trouble" in checked) return { ...checked, waitMs: 0 };
    // One file, so that the key always belongs to the certificate.
    await writeSafely(certFile, `${ordered.cert.trim()}\n${ordered.key}`);
    return checked;
  }

  /** One turn; resolves with the time until the next one. */
  async function turn(): Promise<number> {
    const { stored, dueMs } = await look();
    if (stored !== undefined) setReady();
    const { failures, nextMs } = await readAttempts(own.folder);
    // A clock that was wrong must not stop the renewals for years.
    const allowedMs = nextMs - nowMs() > MAX_ASKED_WAIT_MS ? 0 : nextMs;
    const waitMs = Math.max(dueMs, allowedMs) - nowMs();
    if (waitMs > 0) return waitMs;
    const failedWaitMs = Math.min(firstWaitMs * 2 ** failures, MAX_WAIT_MS);
    // Written before, so that a crash in the middle counts as a failure.
    await writeAttempts(own.folder, { failures: failures + 1, nextMs: nowMs() + failedWaitMs });
    const ordered = await order();
    if ("trouble" in ordered) {
      const againMs = nowMs() + Math.max(failedWaitMs, Math.min(ordered.waitMs, MAX_ASKED_WAIT_MS));
      await writeAttempts(own.folder, { failures: failures + 1, nextMs: againMs });
      onFailure(ordered.trouble, againMs, stored);
    } else {
      // A certificate that is due at once, as one with a very short life, must not be ordered in a loop.
      await writeAttempts(own.folder, { failures: 0, nextMs: nowMs() + firstWaitMs });
      onOrdered(ordered.endsMs);
    }
    return 0;
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const waitMs = await turn().catch((error: unknown) => {
        onFailure(String(error), nowMs() + firstWaitMs, undefined);
        return firstWaitMs;
      });
      await setTimeout(Math.min(waitMs, LOOK_AGAIN_MS), undefined, { signal: stopping.signal }).catch(
        () => {},
      );
    }
  }

  const running = run();
  return {
    ready,
    async stop() {
      stopping.abort();
      // An order may take minutes, and ends with the process.
      await Promise.race([running, Bun.sleep(0)]);
    },
  };
}
