import { expect, test } from "bun:test";

import { StoreUnavailable } from "../../src/links/link-store.ts";
import { createCommits, createStoreFigures } from "../../src/store/shared/commits.ts";
import { stopClock } from "../support/stopped-clock.ts";

/** Commits that the test ends. */
function holdable() {
  const started: { readonly items: readonly number[]; end(): void }[] = [];
  const commit = (items: readonly number[]) =>
    new Promise<readonly number[]>((resolve) => started.push({ items, end: () => resolve(items) }));
  return { started, commit, sizes: () => started.map(({ items }) => items.length) };
}

/** Until items that arrived are committed. */
async function turns(): Promise<void> {
  for (let nth = 0; nth < 3; nth++) await new Promise(setImmediate);
}

test("another commit starts only when a full batch waits or the last commit is slow", async () => {
  using clock = stopClock();
  const { started, commit, sizes } = holdable();
  const { add, settled } = createCommits({ waiting: 100, batch: 3, atOnce: 3 }, commit);
  const all = [add([1])];
  await turns();
  all.push(add([2]), add([3]));
  await turns();
  expect(sizes()).toEqual([1]);
  all.push(add([4]), add([5]));
  await turns();
  expect(sizes()).toEqual([1, 3, 1]);
  all.push(add([6]), add([7]), add([8]));
  clock.advance(100);
  all.push(add([9]));
  await turns();
  expect(sizes()).toEqual([1, 3, 1]);
  started[2]?.end();
  for (let nth = 0; nth < 5; nth++) {
    await turns();
    for (const { end } of started) end();
  }
  expect((await Promise.all(all)).flat()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  await settled();
  for (const [passedMs, item, last] of [
    [0, 10, [10]],
    [40, 11, [10]],
    [20, 12, [11, 12]],
  ] as const) {
    clock.advance(passedMs);
    void add([item]);
    await turns();
    expect(started.at(-1)?.items).toEqual(last);
  }
});

test("an item is refused after too long a wait, and later ones are committed", async () => {
  using clock = stopClock();
  const { started, commit } = holdable();
  const { add } = createCommits({ waiting: 100, batch: 10, waitMs: 300 }, commit);
  const first = add([1]);
  await turns();
  const late = add([2]);
  const refusal = late.catch((error: unknown) => error);
  clock.advance(400);
  const inTime = add([3]);
  started[0]?.end();
  expect(await first).toEqual([1]);
  expect(await refusal).toBeInstanceOf(StoreUnavailable);
  await turns();
  started[1]?.end();
  expect(await inTime).toEqual([3]);
});

test("figures count waiting, refused and failed items, and the size and duration of commits", async () => {
  const { links: figures } = createStoreFigures();
  let fail = false;
  const { started, commit } = holdable();
  const failing = async (items: readonly number[]) => {
    if (fail) throw new StoreUnavailable("away");
    return commit(items);
  };
  const { add } = createCommits({ waiting: 4, batch: 3 }, failing, figures);
  const first = add([1, 2, 3]);
  await turns();
  const second = add([4]);
  expect(await add([5]).catch((error: unknown) => error)).toBeInstanceOf(StoreUnavailable);
  expect(figures).toMatchObject({ waiting: 4, refused: 1, failed: 0 });
  started[0]?.end();
  await first;
  while (started.length < 2) await turns();
  started[1]?.end();
  await second;
  fail = true;
  expect(await add([6, 7]).catch((error: unknown) => error)).toBeInstanceOf(StoreUnavailable);
  expect(figures).toMatchObject({ waiting: 0, refused: 1, failed: 1 });
  expect(figures.items.sum).toBe(6);
  // Buckets for 1, 2 and 5 items.
  expect(figures.items.counts.slice(0, 3)).toEqual([1, 1, 1]);
  expect(figures.seconds.counts.reduce((sum, count) => sum + count)).toBe(3);
});
