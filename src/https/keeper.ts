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
  /** An earlier process asked the authority, so this one may ask only then. Told once. */
  readonly onPostponed: (nextMs: number) => void;
  /** Tests need not wait. */
  readonly firstWaitMs?: number;
  readonly limitMs?: number;
}

export interface Keeper {
  /** Resolves once there is a certificate that can be served. */
  readonly ready: Promise<void>;
  stop(): Promise<void>;
}

/** Orders a certificate if there is none, and renews it as long as it runs. */
export function keepCertificate(options: KeeperOptions): Keeper {
  const { own, certFile, nowMs, onOrdered, onFailure, onPostponed } = options;
  const { firstWaitMs = FIRST_WAIT_MS } = options;
  const { promise: ready, resolve: setReady } = Promise.withResolvers<void>();
  const stopping = new AbortController();

  /** The stored certificate, if it can be served. */
  let stored: Certificate | undefined;
  /** Not stored yet, because the disk is full. It is kept, because an authority gives only a few a week. */
  let ordered: Certificate | undefined;
  let isFirstTurn = true;

  /** Reads the stored certificate, and resolves with the time when it must be renewed. */
  async function look(): Promise<number> {
    const read = await readCertificate({ certFile, keyFile: certFile }, nowMs());
    const [main = ""] = own.hosts;
    stored = "trouble" in read || !read.isFor(main) ? undefined : read;
    if (stored === undefined || !own.hosts.every(stored.isFor)) return 0;
    const { startsMs, endsMs } = stored;
    const beforeMs = Math.min(RENEWED_BEFORE_MS, (endsMs - startsMs) / 3);
    const part = Bun.hash.crc32(main) / 2 ** 32;
    return endsMs - beforeMs * (1 - JITTER * part);
  }

  async function order(): Promise<Certificate | { trouble: string; waitMs: number }> {
    const { folder, directory, hosts } = own;
    const key = await accountKey(folder);
    const answer = await orderCertificate({ ...options, directory, hosts, accountKey: key });
    if ("trouble" in answer) return answer;
    const checked = checkCertificate(answer, { certFile: directory, keyFile: directory }, nowMs());
    if ("trouble" in checked) return { ...checked, waitMs: 0 };
    // It would be ordered again and again.
    const missing = hosts.filter((host) => !checked.isFor(host));
    if (missing.length === 0) return checked;
    return { trouble: `the certificate of ${directory} is not for ${missing.join(", ")}`, waitMs: 0 };
  }

  async function store(): Promise<void> {
    if (ordered === undefined) return;
    // One file, so that the key always belongs to the certificate.
    await writeSafely(certFile, `${ordered.cert.trim()}\n${ordered.key}`);
    onOrdered(ordered.endsMs);
    ordered = undefined;
    setReady();
    // A certificate that is due at once, as one with a very short life, must not be ordered in a loop.
    await writeAttempts(own.folder, { failures: 0, nextMs: nowMs() + firstWaitMs });
  }

  /** One turn; resolves with the time until the next one. */
  async function turn(): Promise<number> {
    await store();
    const dueMs = await look();
    if (stored !== undefined) setReady();
    const { failures, nextMs } = await readAttempts(own.folder);
    // A clock that was wrong must not stop the renewals for years.
    const allowedMs = nextMs - nowMs() > MAX_ASKED_WAIT_MS ? 0 : nextMs;
    const waitMs = Math.max(dueMs, allowedMs) - nowMs();
    if (waitMs > 0 && dueMs <= nowMs() && isFirstTurn) onPostponed(allowedMs);
    isFirstTurn = false;
    if (waitMs > 0) return waitMs;
    const failedWaitMs = Math.min(firstWaitMs * 2 ** failures, MAX_WAIT_MS);
    // Written before, so that a crash in the middle counts as a failure.
    await writeAttempts(own.folder, { failures: failures + 1, nextMs: nowMs() + failedWaitMs });
    const answer = await order();
    if ("trouble" in answer) {
      const againMs = nowMs() + Math.max(failedWaitMs, Math.min(answer.waitMs, MAX_ASKED_WAIT_MS));
      await writeAttempts(own.folder, { failures: failures + 1, nextMs: againMs });
      onFailure(answer.trouble, againMs, stored);
    } else {
      ordered = answer;
      await store();
    }
    return 0;
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const waitMs = await turn().catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        onFailure(`cannot use ${own.folder}: ${reason}`, nowMs() + firstWaitMs, stored);
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
