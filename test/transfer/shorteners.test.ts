// Runs the queries of docs/moving.md on tables as the shorteners create them.
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { sharePostgres } from "../support/postgres.ts";
import { ROOT } from "../support/service.ts";
import { commandsOf, scriptsOf } from "../support/shell-scripts.ts";
import { expectImported } from "./import-checks.ts";

const server = await sharePostgres();

/** The queries of the document, with the time zone that each command sets. */
const QUERIES = scriptsOf(readFileSync(join(ROOT, "docs/moving.md"), "utf8"))
  .flatMap(commandsOf)
  .flatMap(({ words, settings: { PGTZ: zone = "America/New_York" } }) =>
    words.filter((word) => word.startsWith("SELECT ")).map((sql) => ({ sql, zone })),
  );

/** Runs the queries that name the table, and returns their output: links, and their visits. */
type Engine = (statements: string, table: string) => Promise<readonly string[]>;

/** COPY writes what `psql --csv` writes. */
const onPostgres: Engine = async (statements, table) => {
  await server.url(table);
  const tables = statements.replaceAll("`", '"').replaceAll("DATETIME", "TIMESTAMPTZ");
  await server.query(`SET timezone TO 'UTC'; ${tables}`, table);
  const [row] = await server.query("SELECT current_setting('data_directory') AS folder");
  const file = `${String(row?.["folder"])}/${table}`;
  const files: string[] = [];
  for (const { sql, zone } of queriesOn(table)) {
    await server.query(
      `SET timezone TO '${zone}'; COPY (${sql}) TO '${file}' WITH (FORMAT csv, HEADER)`,
      table,
    );
    files.push(readFileSync(file, "utf8"));
  }
  return files;
};

/** Stands in for `sqlite3 -csv -header`, and for `mysql`, which npm does not have. */
const onSqlite: Engine = async (statements, table) => {
  using database = new Database(":memory:");
  database.run(statements);
  return queriesOn(table).map(({ sql }) => {
    const statement = database.query(sql);
    const rows = [statement.columnNames, ...statement.values()];
    const quoted = (cell: unknown) => JSON.stringify(cell ?? "").replaceAll(String.raw`\"`, '""');
    return rows.map((row) => `${row.map(quoted).join(",")}\r\n`).join("");
  });
};

function queriesOn(table: string): typeof QUERIES {
  const queries = QUERIES.filter(({ sql }) => sql.includes(table));
  expect(queries.length).toBeGreaterThan(0);
  return queries;
}

const KUTT = `
CREATE TABLE domains (id INT PRIMARY KEY, address VARCHAR(255) NOT NULL UNIQUE);
CREATE TABLE links (id INT PRIMARY KEY, address VARCHAR(255) NOT NULL, description VARCHAR(255),
  banned BOOLEAN NOT NULL DEFAULT false, domain_id INT REFERENCES domains (id), password VARCHAR(255), expire_in DATETIME,
  target VARCHAR(2040) NOT NULL, visit_count INT NOT NULL DEFAULT 0, created_at DATETIME NOT NULL);
CREATE TABLE visits (id INT PRIMARY KEY, link_id INT REFERENCES links (id), created_at DATETIME NOT NULL,
  total INT NOT NULL DEFAULT 0);
INSERT INTO domains VALUES (3, 'brand.example');
INSERT INTO links VALUES
  (1, 'abc', 'A "text"', false, NULL, NULL, NULL, 'https://example.com/a?q="1",2', 7, '2024-01-31 12:34:56'),
  (2, 'banned', NULL, true, NULL, NULL, NULL, 'https://example.com/b', 0, '2024-01-31 12:34:56'),
  (3, 'secret', NULL, false, NULL, '$2a$12$x', NULL, 'https://example.com/s', 0, '2024-01-31 12:34:56'),
  (4, 'over', NULL, false, NULL, '', '2024-06-01 00:00:00', 'https://example.com/o', 1, '2024-01-31 12:34:56'),
  (5, 'abc', NULL, false, 3, NULL, NULL, 'https://example.com/branded', 9, '2024-01-31 12:34:56');
INSERT INTO visits VALUES (1, 1, '2024-02-29 23:00:00', 2), (2, 1, '2024-02-29 01:00:00', 3),
  (3, 5, '2024-02-29 01:00:00', 9);`;

const SHLINK = `
CREATE TABLE domains (id INT PRIMARY KEY, authority VARCHAR(255) NOT NULL UNIQUE);
CREATE TABLE short_urls (id INT PRIMARY KEY, original_url TEXT NOT NULL, short_code VARCHAR(255) NOT NULL,
  date_created TIMESTAMP(0) NOT NULL, valid_since TIMESTAMP(0), valid_until TIMESTAMP(0), max_visits INT,
  domain_id INT REFERENCES domains (id), forward_query BOOLEAN NOT NULL DEFAULT true, title VARCHAR(512));
CREATE TABLE visits (id INT PRIMARY KEY, \`date\` TIMESTAMP(0) NOT NULL, short_url_id INT REFERENCES short_urls (id),
  potential_bot BOOLEAN NOT NULL DEFAULT false);
INSERT INTO domains VALUES (3, 'brand.example');
INSERT INTO short_urls VALUES
  (1, 'https://example.com/a?q="1",2', 'abc', '2024-01-31 12:34:56', '2024-02-01 00:00:00', NULL, NULL, NULL, true, 'A title'),
  (2, 'https://example.com/o', 'over', '2024-01-31 12:34:56', NULL, '2024-06-01 00:00:00', NULL, NULL, true, NULL),
  (3, 'https://example.com/l', 'later', '2024-01-31 12:34:56', '2199-01-01 00:00:00', NULL, NULL, NULL, true, NULL),
  (4, 'https://example.com/m', 'limited', '2024-01-31 12:34:56', NULL, NULL, 2, NULL, true, NULL),
  (5, 'https://example.com/branded', 'abc', '2024-01-31 12:34:56', NULL, NULL, NULL, 3, true, NULL),
  (6, 'https://example.com/p', 'plain', '2024-01-31 12:34:56', NULL, NULL, NULL, NULL, false, NULL);
INSERT INTO visits VALUES (1, '2024-02-29 23:59:59', 1, false), (2, '2024-02-29 00:00:00', 1, false),
  (3, '2024-03-01 00:00:00', 1, true), (4, '2024-03-01 00:00:00', NULL, false), (5, '2024-03-01 00:00:00', 5, false);`;

const CHHOTO = `
CREATE TABLE urls (id INTEGER PRIMARY KEY, short_url TEXT NOT NULL, long_url TEXT NOT NULL, hits INTEGER NOT NULL,
  expiry_time INTEGER, notes TEXT);
INSERT INTO urls (short_url, long_url, hits, expiry_time, notes) VALUES
  ('abc', 'https://example.com/a?q="1",2', 5, NULL, 'a note'), ('ABC', 'https://example.com/zero', 0, 0, NULL),
  ('over', 'https://example.com/o', 2, 1717200000, NULL), ('later', 'https://example.com/later', 0, 7226582400, NULL);`;

const YOURLS = `
CREATE TABLE yourls_url (keyword VARCHAR(100) PRIMARY KEY, url TEXT NOT NULL, title TEXT, timestamp TIMESTAMP NOT NULL,
  ip VARCHAR(41) NOT NULL, clicks INT NOT NULL);
CREATE TABLE yourls_log (click_id INTEGER PRIMARY KEY, click_time DATETIME NOT NULL, shorturl VARCHAR(100) NOT NULL);
INSERT INTO yourls_url VALUES ('abc', 'https://example.com/a?q="1",2', 'A title', '2024-01-31 12:34:56', '::1', 7);
INSERT INTO yourls_log (click_time, shorturl) VALUES ('2024-02-29 23:59:59', 'abc'), ('2024-02-29 00:00:00', 'abc');`;

const CREATED = "2024-01-31T12:34:56.000Z";
const ENDS = "2024-06-01T00:00:00.000Z";
const ABC = { location: "https://example.com/a?q=%221%22,2", created: CREATED };

describe("docs/moving.md", () => {
  test.each([
    ["PostgreSQL", onPostgres],
    ["SQLite", onSqlite],
  ])("has queries for Kutt on %s, which skip banned links, passwords and other domains", async (_, read) => {
    const [links = "", visits = ""] = await read(KUTT, "links");
    await expectImported(links, {
      links: {
        abc: { ...ABC, title: 'A "text"', visits: 7, days: { "2024-02-29": 5 } },
        over: { location: 404, created: CREATED, ends: ENDS, visits: 1 },
      },
      visits,
    });
  });

  test.each([
    ["PostgreSQL", onPostgres],
    ["SQLite", onSqlite],
  ])(
    "has queries for Shlink on %s, which skip links with conditions, other domains and bots",
    async (_, read) => {
      const [links = "", visits = ""] = await read(SHLINK, "short_urls");
      await expectImported(links, {
        links: {
          abc: {
            ...ABC,
            location: `${ABC.location}&utm=1`,
            title: "A title",
            visits: 2,
            days: { "2024-02-29": 2 },
          },
          over: { location: 404, created: CREATED, ends: ENDS },
          plain: { location: "https://example.com/p", created: CREATED },
        },
        visits,
      });
    },
  );

  test("has queries for YOURLS, with visits by day", async () => {
    const [links = "", visits = ""] = await onSqlite(YOURLS, "yourls_");
    await expectImported(links, {
      links: { abc: { ...ABC, title: "A title", visits: 7, days: { "2024-02-29": 2 } } },
      visits,
    });
  });

  test("has a query for Chhoto URL, with ends and total visits", async () => {
    const [links = ""] = await onSqlite(CHHOTO, "FROM urls");
    await expectImported(links, {
      links: {
        abc: { location: ABC.location, title: "a note", visits: 5 },
        ABC: { location: "https://example.com/zero" },
        over: { location: 404, ends: ENDS, visits: 2 },
        later: { location: "https://example.com/later" },
      },
    });
  });
});
