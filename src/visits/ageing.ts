import type { Clock } from "../links/clock.ts";
import { DAY_MS, HOUR_MS } from "../links/time.ts";
import type { VisitStore } from "./store.ts";

/** A day is over for us when its last visits are surely folded. */
const CLOSE_AFTER_MS = HOUR_MS;
const BATCH = 200;
/** Ageing stops here and leaves the rest to the next time. */
const MAX_BATCHES = 100;

/** Lets statistics age, in small batches, up to what is due; says how many days of links have aged. */
export async function ageVisits(
  store: VisitStore,
  clock: Pick<Clock, "nowMs" | "trustworthy">,
  keepDays: number,
): Promise<number> {
  let aged = 0;
  for (let batch = 0; batch < MAX_BATCHES && clock.trustworthy(); batch++) {
    const today = Math.floor((clock.nowMs() - CLOSE_AFTER_MS) / DAY_MS);
    const bounds = { closeBefore: today, forgetBefore: today - keepDays };
    const done = await store.age(bounds, BATCH);
    aged += done;
    if (done < BATCH) break;
  }
  return aged;
}
