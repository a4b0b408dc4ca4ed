import { expect, test } from "bun:test";

import { StoreUnavailable } from "../../src/links/store.ts";
import { createCommits } from "../../src/store/commits.ts";

/** Commits that end when they are told to. */
function holdable() {
  const begun: { readonly items: readonly number[]; end(): void }[] = [];
  const commit = (items: readonly number[]) =>
    new Promise<readonly number[]>((resolve) => begun.push({ items, end: () => resolve(items) }));
  return { begun, commit, sizes: () => begun.map(({ items }) => items.length) };
}

test("further commits begin only when a whole batch waits, or the last one takes long", async () => {
  const { begun, commit, sizes } = holdable();
  const { add, settled } = createCommits({ waiting: 100, batch: 3, atOnce: 3 }, commit);
  const all = [add([1])];
  await new Promise(setImmediate);
  all.push(add([2]), add([3]));
  await new Promise(setImmediate);
  expect(sizes()).toEqual([1]);
  all.push(add([4]), add([5]));
  await new Promise(setImmediate);
  expect(sizes()).toEqual([1, 3, 1]);
  all.push(add([6]), add([7]), add([8]));
  await Bun.sleep(100);
  all.push(add([9]));
  await new Promise(setImmediate);
  expect(sizes()).toEqual([1, 3, 1]);
  begun[2]?.end();
  for (let nth = 0; nth < 5; nth++) {
    await new Promise(setImmediate);
    for (const { end } of begun) end();
  }
  expect((await Promise.all(all)).flat()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  await settled();
  expect(await Promise.race([add([10]), Bun.sleep(20)])).toBeUndefined();
  expect(begun.at(-1)?.items).toEqual([10]);
});

test("what has waited for too long is refused, and what came later is not", async () => {
  const { begun, commit } = holdable();
  const { add } = createCommits({ waiting: 100, batch: 10, waitMs: 300 }, commit);
  const first = add([1]);
  await new Promise(setImmediate);
  const late = add([2]);
  const refused = late.catch((error: unknown) => error);
  await Bun.sleep(400);
  const inTime = add([3]);
  begun[0]?.end();
  expect(await first).toEqual([1]);
  expect(await refused).toBeInstanceOf(StoreUnavailable);
  await new Promise(setImmediate);
  begun[1]?.end();
  expect(await inTime).toEqual([3]);
});
