import { expect, test } from "bun:test";

import { createLines, createQueue } from "../../src/lib/queue.ts";

test("a queue runs `atOnce` tasks at a time in order of arrival, and refuses those beyond `waiting`", async () => {
  const inTurn = createQueue({ atOnce: 2, waiting: 3 });
  const started: number[] = [];
  const ends: (() => void)[] = [];
  const work = (nth: number) => async () => {
    started.push(nth);
    await new Promise<void>((resolve) => ends.push(resolve));
    if (nth === 1) throw new Error("failed");
    return nth;
  };
  const outcomes = [0, 1, 2, 3, 4, 5, 6].map((nth) => inTurn(work(nth)).catch(() => "failed" as const));
  await Bun.sleep(0);
  expect(started).toEqual([0, 1]);
  for (let end = ends.shift(); end !== undefined; end = ends.shift()) {
    end();
    await Bun.sleep(0);
    expect(started.length).toBeLessThanOrEqual(5);
  }
  expect(await Promise.all(outcomes)).toEqual([0, "failed", 2, 3, 4, undefined, undefined]);
  expect(started).toEqual([0, 1, 2, 3, 4]);
  const later = inTurn(work(7));
  await Bun.sleep(0);
  for (const end of ends) end();
  expect(await later).toBe(7);
});

test("a queue limits each sharer to its share of the places", async () => {
  const inTurn = createQueue({ atOnce: 1, waiting: 9, share: 2 });
  const { promise: end, resolve: done } = Promise.withResolvers<string>();
  const outcomes = [["a"], ["a", "x"], ["a"], ["b", "x"], ["c", "x"], ["c"], []].map((sharers) =>
    inTurn(() => end, sharers),
  );
  done("done");
  expect(await Promise.all(outcomes)).toEqual(["done", "done", undefined, "done", undefined, "done", "done"]);
  expect(await inTurn(() => end, ["a", "x"])).toBe("done");
});

test("lines run work of one key in order of arrival, even after a failure, and other work immediately", async () => {
  const inLine = createLines();
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const run = (key: string, name: string) =>
    inLine(key, async () => {
      started.push(name);
      await new Promise<void>((resolve) => ends.push(resolve));
      if (name === "a1") throw new Error("failed");
      return name;
    }).catch(() => "failed");
  const outcomes = [run("a", "a1"), run("a", "a2"), run("b", "b1"), run("a", "a3")];
  expect(started).toEqual(["a1", "b1"]);
  for (let end = ends.shift(); end !== undefined; end = ends.shift()) {
    end();
    await Bun.sleep(0);
  }
  expect(await Promise.all(outcomes)).toEqual(["failed", "a2", "b1", "a3"]);
  expect(started).toEqual(["a1", "b1", "a2", "a3"]);
});
