import { isStale, loadStatus, MINUTE_MS, type SavedLink } from "./saved-links.ts";

const MAX_CONCURRENT = 4;
/** Half of the default limit per client, so that the reader can use other pages. */
const PER_MINUTE = 60;
const CHECK_EVERY_MS = 15_000;

interface StatusRequestsOptions {
  /** Visible links come first. */
  readonly candidates: () => readonly SavedLink[];
  readonly onStatus: (saved: SavedLink) => void;
  /** Called when the reason for missing results changes; undefined if there is none. */
  readonly onTrouble: (trouble: "limited" | "away" | undefined) => void;
}

/** Loads the status of links, a few at a time, within the service's limits. */
export function createStatusRequests({ candidates, onStatus, onTrouble }: StatusRequestsOptions) {
  const inFlight = new Set<string>();
  /** Links without a response come after the others, because a firewall may refuse some addresses. */
  const failed = new Set<string>();
  const requestTimes: number[] = [];
  let pausedUntil = 0;

  function mayRequest(): boolean {
    const now = performance.now();
    while ((requestTimes[0] ?? now) < now - MINUTE_MS) requestTimes.shift();
    return (
      inFlight.size < MAX_CONCURRENT &&
      requestTimes.length < PER_MINUTE &&
      now >= pausedUntil &&
      document.visibilityState === "visible"
    );
  }

  function check(): void {
    while (mayRequest()) {
      const stale = candidates().filter((one) => isStale(one) && !inFlight.has(one.path));
      const saved = stale.find(({ path }) => !failed.has(path)) ?? stale[0];
      if (saved === undefined) return;
      void request(saved);
    }
  }

  async function request(saved: SavedLink): Promise<void> {
    inFlight.add(saved.path);
    requestTimes.push(performance.now());
    const answer = await loadStatus(saved);
    inFlight.delete(saved.path);
    if ("status" in answer) {
      failed.delete(saved.path);
      onStatus({ ...saved, ...answer });
      if (performance.now() >= pausedUntil) onTrouble(undefined);
    } else {
      failed.add(saved.path);
      pausedUntil = performance.now() + answer.waitMs;
      setTimeout(check, answer.waitMs);
      onTrouble(answer.isLimited ? "limited" : "away");
    }
    check();
  }

  function resume(): void {
    pausedUntil = 0;
    check();
  }
  addEventListener("online", resume);
  document.addEventListener("visibilitychange", check);
  setInterval(check, CHECK_EVERY_MS);
  return { check };
}
