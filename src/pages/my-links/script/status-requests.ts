import { askAbout, isStale } from "./link-status.ts";
import { type Made } from "./saved-links.ts";

/** Requests at the same time. */
const AT_ONCE = 4;
/** Half of what a public service grants each client by default, so that the reader can use other pages meanwhile. */
const PER_MINUTE = 60;
const MINUTE_MS = 60_000;
/** How often it is looked for what has become stale. */
const LOOK_EVERY_MS = 15_000;

export interface AskingOptions {
  /** Of these links, those that the reader sees come first. */
  readonly wanted: () => readonly Made[];
  readonly onTold: (made: Made) => void;
  /** Called whenever it changes why nothing new can be told; undefined if nothing is in the way. */
  readonly onTrouble: (trouble: "limited" | "away" | undefined) => void;
}

/** Asks the service about links, a few at a time, and no more often than it allows. */
export function createAsking({ wanted, onTold, onTrouble }: AskingOptions) {
  const underWay = new Set<string>();
  const asked: number[] = [];
  let pausedUntil = 0;

  function mayAsk(): boolean {
    const now = performance.now();
    while ((asked[0] ?? now) < now - MINUTE_MS) asked.shift();
    return (
      underWay.size < AT_ONCE &&
      asked.length < PER_MINUTE &&
      now >= pausedUntil &&
      document.visibilityState === "visible"
    );
  }

  /** Asks about what is wanted and stale, as far as it is allowed now. */
  function look(): void {
    while (mayAsk()) {
      const made = wanted().find((one) => isStale(one) && !underWay.has(one.path));
      if (made === undefined) return;
      void askFor(made);
    }
  }

  async function askFor(made: Made): Promise<void> {
    underWay.add(made.path);
    asked.push(performance.now());
    const answer = await askAbout(made);
    underWay.delete(made.path);
    if ("told" in answer) {
      onTold({ ...made, ...answer });
      if (performance.now() >= pausedUntil) onTrouble(undefined);
    } else {
      pausedUntil = performance.now() + answer.waitMs;
      setTimeout(look, answer.waitMs);
      onTrouble(answer.isLimited ? "limited" : "away");
    }
    look();
  }

  function lookAgain(): void {
    pausedUntil = 0;
    look();
  }
  addEventListener("online", lookAgain);
  document.addEventListener("visibilitychange", look);
  setInterval(look, LOOK_EVERY_MS);
  return { look };
}
