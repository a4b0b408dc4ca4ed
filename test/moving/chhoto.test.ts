import { Database } from "bun:sqlite";
import { describe, test } from "bun:test";
import { join } from "node:path";

import { temporaryFolder } from "../service.ts";
import { moveIn, refuse } from "./moved.ts";

const HOW = "Curt reads the SQLite file of Chhoto URL";

describe("curt import --from chhoto", () => {
  test("takes the file, with expired links", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "urls.sqlite");
    using database = new Database(path, { create: true });
    database.run("CREATE TABLE other (id INTEGER)");
    await refuse("chhoto", await Bun.file(path).bytes(), "has no table urls with a column short_url", HOW);
    database.run(
      "CREATE TABLE urls (id INTEGER PRIMARY KEY, short_url TEXT NOT NULL, long_url TEXT NOT NULL, hits INTEGER NOT NULL, expiry_time INTEGER, notes TEXT)",
    );
    const insert = database.query(
      "INSERT INTO urls (long_url, short_url, hits, expiry_time, notes) VALUES (?, ?, ?, ?, ?)",
    );
    insert.run('https://example.com/it\'s?"q"=😀', "abc", 5, null, "a 'note'");
    insert.run("https://example.com/zero", "ABC", 0, 0, null);
    insert.run("https://example.com/over", "over", 2, 1_717_200_000, null);
    insert.run("https://example.com/later", "later", 0, 7_226_582_400, null);
    insert.run("javascript:alert(1)", "script", 0, null, null);
    insert.run(Buffer.from("https://example.com/"), "bytes", 0, null, null);
    await moveIn("chhoto", await Bun.file(path).bytes(), {
      links: {
        abc: { leads: "https://example.com/it's?%22q%22=%F0%9F%98%80", visits: 5 },
        ABC: { leads: "https://example.com/zero" },
        over: { leads: 404, ends: "2024-06-01T00:00:00.000Z", visits: 2 },
        later: { leads: "https://example.com/later" },
      },
      left: {
        "it has no long URL": ["row 6 of urls: bytes"],
        "URL: It must start with http:// or https://.": ["row 5 of urls: script"],
      },
    });
  });

  test("takes the file of an old version, and one with a write-ahead log", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "urls.sqlite");
    const database = new Database(path, { create: true });
    database.run("PRAGMA journal_mode = WAL");
    database.run(
      "CREATE TABLE urls (id INTEGER PRIMARY KEY, long_url TEXT NOT NULL, short_url TEXT NOT NULL, hits INTEGER NOT NULL)",
    );
    database.run("INSERT INTO urls VALUES (1, 'https://example.com/old', 'old', 1)");
    database.close();
    await moveIn("chhoto", await Bun.file(path).bytes(), {
      links: { old: { leads: "https://example.com/old", visits: 1 } },
    });
  });

  test("refuses what is no such file", () =>
    refuse("chhoto", "short_url,long_url\n", "is no SQLite database", HOW));
});
