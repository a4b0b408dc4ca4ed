import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import type { LinkKey } from "../../src/links/code.ts";
import { addToSketch, estimate, type Sketch } from "../../src/visits/days/sketch.ts";
import { createSegmentFile, restoreSegmentFile, syncSegment } from "../../src/visits/journal/segment-file.ts";
import { HEAD_WORDS, segmentBytes } from "../../src/visits/journal/segment-layout.ts";
import { readSegment } from "../../src/visits/journal/segment-reader.ts";
import { createName, openSegment } from "../../src/visits/journal/segment.ts";
import { temporaryFolder } from "../support/service.ts";
import { writeSegment } from "./segments.ts";

const CAPACITY = { links: 3, details: 4, nameBytes: 400 };
const OWNER = { source: [0xdead, 0xbeef], boot: [1, 2] } as const;
const visit = (visitor: number) => ({
  agent: createName("agent", "Chrome\tLinux\tdesktop"),
  referrer: createName("referrer", "한글.example"),
  language: createName("language", "ko"),
  country: createName("country", "KR"),
  visitor,
});

async function newSegment(folder: string) {
  const path = join(folder, "one.visits");
  await createSegmentFile(path, CAPACITY);
  const segment = openSegment(path);
  segment.start(OWNER, 1, 490_000);
  const read = async () => {
    const visits = readSegment(path);
    return Array.from({ length: visits.length }, (_, nth) => visits.at(nth));
  };
  return { path, segment, read };
}

describe("a segment", () => {
  test("contains nothing of its visits on disk once it is freed", async () => {
    using folder = temporaryFolder();
    const { path, segment } = await newSegment(folder.path);
    const link = createName("link", "secret\t1");
    for (let nth = 0; nth < 5; nth++) segment.count(link, false, visit(0xffff_ffff));
    expect(readFileSync(path).includes("secret")).toBe(true);
    segment.free();
    expect(
      readFileSync(path)
        .subarray(HEAD_WORDS * 4)
        .every((byte) => byte === 0),
    ).toBe(true);
  });

  test("contains nothing of a refused visit on disk once it is freed", async () => {
    using folder = temporaryFolder();
    const { path, segment } = await newSegment(folder.path);
    const link = createName("link", "a\t1");
    expect(segment.count(link, false, visit(1))).toBe(true);
    // The place of the new agent is written before the referrer turns out too long.
    const names = {
      agent: createName("agent", "Firefox"),
      referrer: createName("referrer", "z".repeat(130)),
    };
    expect(segment.count(link, false, { ...visit(2), ...names })).toBe(false);
    segment.free();
    const rest = readFileSync(path).subarray(HEAD_WORDS * 4);
    expect(rest.every((byte) => byte === 0)).toBe(true);
  });

  test("returns its counted visits, even if nobody closed it", async () => {
    using folder = temporaryFolder();
    const { path, segment, read } = await newSegment(folder.path);
    const [a, b] = [createName("link", "b\t1"), createName("link", "a\t2")];
    const [one, two] = [visit(7), visit(0xffff_ffff)];
    segment.count(a, false, one);
    segment.count(b, true);
    for (const detail of [one, two]) segment.count(a, false, detail);
    const values = {
      agent: { browser: "Chrome", os: "Linux", device: "desktop" },
      referrer: "한글.example",
      language: "ko",
      country: "KR",
    };
    expect(await read()).toEqual([
      { code: "a" as LinkKey, createdMs: 2, visits: 0, bots: 1, details: [] },
      {
        code: "b" as LinkKey,
        createdMs: 1,
        visits: 3,
        bots: 0,
        details: [
          { ...values, visitor: 7, times: 2 },
          { ...values, visitor: 0xffff_ffff, times: 1 },
        ],
      },
    ]);
    expect(readSegment(path)).toMatchObject({
      source: "0000dead0000beef",
      sequence: 1,
      hour: 490_000,
    });
  });

  test("lists each link once, in the order of codes, even if it was named repeatedly", async () => {
    using folder = temporaryFolder();
    const visits = ["zz", "aa", "한글", "mm"].map((code) => ({ code }));
    const segment = readSegment(await writeSegment({ folder: folder.path, hour: 490_000, visits }));
    const codes = Array.from({ length: segment.length }, (_, nth) => segment.at(nth).code as string);
    expect(codes).toEqual(["aa", "mm", "zz", "한글"]);

    const { segment: named, read } = await newSegment(folder.path);
    const [one, other] = [createName("link", "a\t1"), createName("link", "a\t1")];
    const same = visit(1);
    for (const link of [one, other, one]) {
      named.count(link, false, same);
    }
    named.count(other, true);
    expect(await read()).toMatchObject([{ code: "a", visits: 3, bots: 1, details: [{ times: 3 }] }]);
  });

  test("lists a link before others whose codes start with its code", async () => {
    using folder = temporaryFolder();
    const { segment, read } = await newSegment(folder.path);
    for (const name of ["ab\t1", "a\t22", "a\t2"]) segment.count(createName("link", name), false);
    expect(await read()).toMatchObject([
      { code: "a", createdMs: 2 },
      { code: "a", createdMs: 22 },
      { code: "ab", createdMs: 1 },
    ]);
  });

  test("reads codes with control characters, which an export may bring", async () => {
    using folder = temporaryFolder();
    const { segment, read } = await newSegment(folder.path);
    for (const code of ["a\t1", "a\nb", "\t\t"]) segment.count(createName("link", `${code}\t7`), false);
    const all = await read();
    expect(all.map(({ code, createdMs }) => [code as string, createdMs])).toEqual([
      ["\t\t", 7],
      ["a\t1", 7],
      ["a\nb", 7],
    ]);
  });

  test.each(["", "a", "\t1", "a\t", "a\t1x", "a\t9007199254740992"])(
    "can't be read if a link has the name %j",
    async (name) => {
      using folder = temporaryFolder();
      const { path, segment } = await newSegment(folder.path);
      segment.count(createName("link", "good\t1"), false);
      segment.count(createName("link", name), false);
      expect(() => readSegment(path)).toThrow("names no link");
    },
  );

  test("refuses a link or visit once it is full", async () => {
    using folder = temporaryFolder();
    const { segment, read } = await newSegment(folder.path);
    const links = ["a", "b", "c", "d"].map((code) => createName("link", `${code}\t1`));
    expect(links.map((link) => segment.count(link, false))).toEqual([true, true, true, false]);
    const [first = createName("link", "")] = links;
    const one = visit(1);
    const counted = [1, 2, 3, 4, 5].map(() => segment.count(first, false, one));
    expect(counted).toEqual([true, true, true, true, false]);
    expect(segment.count(first, false)).toBe(true);
    expect((await read()).map(({ visits }) => visits)).toEqual([6, 1, 1]);
  });

  test("refuses a visit whose names don't fit, and keeps nothing of it", async () => {
    using folder = temporaryFolder();
    const { segment, read } = await newSegment(folder.path);
    expect(segment.count(createName("link", `${"x".repeat(200)}\t1`), false)).toBe(false);
    const link = createName("link", "y\t1");
    expect(segment.count(link, false)).toBe(true);
    // Not even a link without visits remains.
    const other = createName("link", "other\t1");
    const long = { ...visit(1), referrer: createName("referrer", "z".repeat(130)) };
    expect([link, other].map((one) => segment.count(one, false, long))).toEqual([false, false]);
    expect(await read()).toEqual([{ code: "y" as LinkKey, createdMs: 1, visits: 1, bots: 0, details: [] }]);
  });

  test("contains nothing from before after a new start", async () => {
    using folder = temporaryFolder();
    const { path, segment, read } = await newSegment(folder.path);
    const link = createName("link", "a\t1");
    segment.count(link, false, visit(1));
    segment.start(OWNER, 2, 490_001);
    expect([segment.isEmpty, await read()]).toEqual([true, []]);
    segment.count(link, true);
    expect(await read()).toEqual([{ code: "a" as LinkKey, createdMs: 1, visits: 0, bots: 1, details: [] }]);
    const later = openSegment(path);
    later.start(OWNER, 3, 490_001);
    later.count(createName("link", "b\t1"), false);
    expect(await read()).toEqual([{ code: "b" as LinkKey, createdMs: 1, visits: 1, bots: 0, details: [] }]);
  });

  test("is trusted after a reboot only if it was synced", async () => {
    using folder = temporaryFolder();
    const { path, segment } = await newSegment(folder.path);
    const after = { ...OWNER, boot: [9, 9] as const };
    expect([segment.isTrusted(OWNER), segment.isTrusted(after)]).toEqual([true, false]);
    syncSegment(path);
    expect(segment.isTrusted(after)).toBe(true);
  });

  test("is no longer trusted after a reboot if it is restored after its sync", async () => {
    using folder = temporaryFolder();
    const { path, segment } = await newSegment(folder.path);
    segment.count(createName("link", "a\t1"), false);
    syncSegment(path);
    const restored = join(folder.path, "restored.visits");
    await restoreSegmentFile(restored, segment.bytes);
    expect(openSegment(restored).isTrusted({ ...OWNER, boot: [9, 9] })).toBe(false);
    expect(readSegment(restored).length).toBe(1);
  });

  test("is trusted only if it was synced, on a system that doesn't identify its boot", async () => {
    using folder = temporaryFolder();
    const { path, segment } = await newSegment(folder.path);
    const unknown = { ...OWNER, boot: [0, 0] as const };
    segment.start(unknown, 2, 490_000);
    expect(segment.isTrusted(unknown)).toBe(false);
    syncSegment(path);
    expect(segment.isTrusted(unknown)).toBe(true);
  });

  test("can't be opened if the file is no segment or is cut", async () => {
    using folder = temporaryFolder();
    const { path } = await newSegment(folder.path);
    const bytes = await Bun.file(path).bytes();
    expect(bytes.length).toBe(segmentBytes(CAPACITY));
    const broken = join(folder.path, "broken");
    for (const content of ["", "x".repeat(63), "x".repeat(500), bytes.subarray(0, -1)]) {
      await Bun.write(broken, content);
      expect(() => openSegment(broken)).toThrow();
    }
  });
});

describe("a sketch of visitors", () => {
  const hash = (nth: number) => Bun.hash.xxHash32(String(nth), 1);
  const sketchOf = (hashes: readonly number[], size = 256): Sketch => {
    const sketch: Sketch = [];
    for (const one of hashes) addToSketch(sketch, one, size);
    return sketch;
  };
  const hashes = (count: number) => Array.from({ length: count }, (_, nth) => hash(nth));

  test("is exact for up to 255 visitors, in any order and with repetitions", () => {
    for (const count of [0, 1, 2, 100, 255]) {
      const twice = [...hashes(count), ...hashes(count).toReversed()];
      expect(estimate(sketchOf(twice), 256)).toBe(count);
    }
  });

  test("is within a fifth for up to 300,000 visitors", () => {
    for (const count of [1000, 20_000, 300_000]) {
      const off = estimate(sketchOf(hashes(count)), 256) / count - 1;
      expect(Math.abs(off)).toBeLessThan(0.2);
    }
  });

  test("keeps the smallest hashes, so that two sketches merge in any order", () => {
    const [one, two] = [hashes(900), hashes(1500).slice(600)];
    expect(sketchOf([...sketchOf(one), ...sketchOf(two)])).toEqual(sketchOf([...two, ...one]));
    expect(sketchOf([5, 3, 9, 3, 1], 3)).toEqual([1, 3, 5]);
  });
});
