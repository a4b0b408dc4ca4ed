import { describe, expect, test } from "bun:test";
import { join } from "node:path";

import { runCommand } from "../cli/commands.ts";
import { temporaryFolder } from "../service.ts";
import { moveIn, refuse } from "./moved.ts";

const LINKS = {
  page: 1,
  links: [
    {
      created_at: "2024-01-31T12:34:56+0000",
      id: "brand.example/3AbC",
      link: "https://brand.example/3AbC",
      custom_bitlinks: ["https://brand.example/spring", "https://brand.example/%F0%9F%98%80"],
      long_url: "https://example.com/spring?a=1",
      title: 'A "title" }',
      archived: false,
      tags: [],
      deeplinks: [],
      references: { group: "https://api-ssl.bitly.com/v4/groups/x" },
    },
    {
      created_at: "2024-01-31T12:34:56+0000",
      link: "https://bit.ly/4xYz",
      long_url: "https://example.com/bitly",
    },
    {
      created_at: "2024-01-31T12:34:56+0000",
      id: "brand.example/idOnly",
      long_url: "https://example.com/id",
    },
    { created_at: "2024-01-31T12:34:56+0000", link: "https://brand.example/none" },
  ],
};

describe("curt import --from bitly", () => {
  test("takes all addresses of the domain from pages of the API", async () => {
    const pages = `${JSON.stringify(LINKS)}\n${JSON.stringify({ links: [], pagination: { total: 4 } })}`;
    await refuse("bitly", pages, "Choose one with --domain: brand.example (5), bit.ly (1).");
    const leads = "https://example.com/spring?a=1";
    await moveIn("bitly", pages, {
      links: {
        "3AbC": { leads, created: "2024-01-31T12:34:56.000Z" },
        spring: { leads },
        "😀": { leads },
        idOnly: { leads: "https://example.com/id" },
      },
      left: {
        "it is of another domain": ["object 2: https://bit.ly/4xYz"],
        "it has no destination": ["object 4: https://brand.example/none"],
      },
      options: ["--domain", "brand.example"],
    });
  });

  test("takes the CSV file, with visits as a sum", async () => {
    const csv = [
      "\uFEFFLink,Custom Link,Title,Destination URL,Date Created,Tags,Total Engagements",
      'brand.example/3AbC,"https://brand.example/spring",It\'s,"https://example.com/a,b",2024-01-31T12:34:56+0000,,12',
      "https://brand.example/plain,,,https://example.com/p,2024-02-01 10:00,x,",
      "https://brand.example/us,,,https://example.com/us,1/31/2024,,",
      "https://brand.example/%,,,https://example.com/bad,,,",
      "https://brand.example/short,",
    ].join("\r\n");
    await moveIn("bitly", csv, {
      links: {
        "3AbC": { leads: "https://example.com/a,b" },
        spring: { leads: "https://example.com/a,b", visits: 12 },
        plain: { leads: "https://example.com/p", created: "2024-02-01T10:00:00.000Z" },
      },
      left: {
        "one of its dates cannot be read. Dates look like 2026-11-22T10:00:00Z": [
          "line 4: https://brand.example/us",
        ],
        "its short address cannot be read": ["line 5: https://brand.example/%"],
        "it has too few or too many cells": ["line 6"],
      },
    });
  });

  test("tells which domains there are if the chosen one is not there", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "links.csv");
    await Bun.write(file, "link,long_url\nhttps://brand.example/a,https://example.com/\n");
    const settings = { DATABASE_URL: `sqlite:${join(folder.path, "curt.db")}`, PORT: "1" };
    const choose = (from: string) =>
      runCommand(["import", "--from", from, "--domain", "bit.ly", file], settings);
    expect((await choose("bitly")).stderr).toContain(
      "holds no links of the domain bit.ly, only of: brand.example (1).",
    );
    expect((await choose("csv")).stderr).toContain("--domain needs --from kutt|shlink|bitly|dub.");
  });

  test("refuses what is no such file", async () => {
    await refuse(
      "bitly",
      "Date,Clicks\n2024-01-01,1\n",
      "has no column link",
      "Curt reads the CSV file that Bitly exports",
    );
    await refuse("bitly", '{"message":"FORBIDDEN"}', "has no list links");
  });
});
