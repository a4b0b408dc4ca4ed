import { expect, test } from "bun:test";

import { collect, type FoundPart } from "../../src/guard/collect.ts";
import { newLink } from "../stores/links.ts";

/** A search that finds so many links in each part. */
function parts(...sizes: number[]) {
  const asked: (string | undefined)[] = [];
  let made = 0;
  const read = async (cursor: string | undefined): Promise<FoundPart> => {
    asked.push(cursor);
    const nth = Number(cursor ?? 0);
    const links = Array.from({ length: sizes[nth] ?? 0 }, () => ({
      ...newLink(`c${made++}`),
      host: `${nth}.example`,
    }));
    return { links, cursor: nth + 1 < sizes.length ? String(nth + 1) : undefined };
  };
  return { read, asked };
}

test("all parts of a search are collected, also those that find nothing", async () => {
  const { read, asked } = parts(2, 0, 0, 3);
  const found = await collect(read);
  if ("kind" in found) throw new Error(found.kind);
  expect(found.links.map(({ code }) => code as string)).toEqual(["c0", "c1", "c2", "c3", "c4"]);
  expect([...found.hosts]).toEqual([
    ["0.example", 2],
    ["3.example", 3],
  ]);
  expect(asked).toEqual([undefined, "1", "2", "3"]);
});

test("10,000 links are collected, and one more is too many, wherever the search ends", async () => {
  const found = await collect(parts(6000, 4000).read);
  expect("kind" in found ? found.kind : found.links.length).toBe(10_000);
  for (const sizes of [[6000, 4001], [10_001], [9000, 2000, 1]])
    expect(await collect(parts(...sizes).read)).toEqual({ kind: "too-many", max: 10_000 });
});

test("a search that never ends is given up", async () => {
  let asked = 0;
  const endless = async () => ({ links: [], cursor: String(asked++) });
  expect(await collect(endless)).toMatchObject({ kind: "too-many" });
  expect(asked).toBeLessThan(5000);
});

test("deleted links count, but lead to no host", async () => {
  const links = ["a.example", "", ""].map((host, nth) => ({ ...newLink(`d${nth}`), host }));
  const found = await collect(async () => ({ links }));
  if ("kind" in found) throw new Error(found.kind);
  expect([found.links.length, [...found.hosts]]).toEqual([3, [["a.example", 1]]]);
});
