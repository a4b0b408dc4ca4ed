import { describe, test } from "bun:test";

import { NEVER_MS } from "../../src/links/link.ts";
import { moveIn, refuse } from "./moved.ts";

const EXPORT = JSON.stringify({
  version: "1.0",
  exportedAt: "2026-01-01T00:00:00.000Z",
  count: 6,
  links: [
    {
      id: "a1",
      url: 'https://example.com/it\'s?"q"',
      slug: "abc",
      comment: '\\"}]',
      createdAt: 1_706_704_496,
      updatedAt: 1,
      tags: [],
    },
    {
      id: "a2",
      url: "https://example.com/over",
      slug: "over",
      createdAt: 1_706_704_496,
      expiration: 1_717_200_000,
    },
    {
      id: "a3",
      url: "https://example.com/later",
      slug: "later",
      createdAt: 1_706_704_496,
      expiration: 7_226_582_400,
    },
    { id: "a4", url: "https://example.com/s", slug: "secret", createdAt: 1_706_704_496, password: "hash" },
    {
      id: "a5",
      url: "data:text/html,x",
      slug: "data",
      createdAt: 1_706_704_496,
      geo: { DE: "https://example.de/" },
    },
    { id: "a6", url: "https://example.com/undated", slug: "undated" },
  ],
});

test("curt import --from sink takes ends far away as they are, and what is beyond the year 9999 as none", () => {
  const link = (slug: string, expiration: number) => ({ slug, url: "https://example.com/", expiration });
  return moveIn(
    "sink",
    JSON.stringify([link("far", 253_402_300_799), link("further", 1_717_200_000_000), link("sum", -1)]),
    {
      links: {
        far: { leads: "https://example.com/", ends: "9999-12-31T00:00:00.000Z" },
        further: { leads: "https://example.com/", ends: new Date(NEVER_MS).toISOString() },
      },
      left: { "dates: they are not between 1970 and 9999": ["object 3: sum"] },
    },
  );
});

describe("curt import --from sink", () => {
  test("takes the export, with expired links", () =>
    moveIn("sink", EXPORT, {
      links: {
        abc: { leads: "https://example.com/it's?%22q%22", created: "2024-01-31T12:34:56.000Z" },
        over: { leads: 404, ends: "2024-06-01T00:00:00.000Z" },
        later: { leads: "https://example.com/later" },
        undated: { leads: "https://example.com/undated" },
      },
      left: {
        "it has a password": ["object 4: secret"],
        "URL: It must start with http:// or https://.": ["object 5: data"],
      },
    }));

  test("refuses what is no such file, or not all of it", async () => {
    const how = "Curt reads the JSON file that Sink exports";
    await refuse("sink", EXPORT.slice(0, -1), "is cut off after object 6", how);
    await refuse("sink", EXPORT.slice(0, -30), "is cut off in object 6", how);
    await refuse("sink", EXPORT.replace('"slug":"over"', "slug: over"), "is no JSON at object 2", how);
    await refuse("sink", "slug,url\n", "has no list links", how);
  });
});
