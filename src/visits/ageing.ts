import type { Clock } from "../links/clock.ts";
import { firstOpenDay } from "./day.ts";
import type { VisitStore } from "./store.ts";

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
    const openDay = firstOpenDay(clock.nowMs());
    const bounds = { closeBefore: openDay, forgetBefore: openDay - keepDays };
    const done = await store.age(bounds, BATCH);
    aged += done;
    if (done < BATCH) break;
  }
  return aged;
}
