import { Database } from "bun:sqlite";
import { describe, test } from "bun:test";
import { join } from "node:path";

import { temporaryFolder } from "../service.ts";
import { moveIn, refuse } from "./moved.ts";

const VISITS = [
  "id, countries, created_at, updated_at, link_id, user_id, referrers, total, br_chrome, br_other, os_linux, os_other",
  `1\t{"de": 2}\t2024-02-29 23:00:00+00\t2024-02-29 23:10:00+00\t1\t1\t{"[]": 2, "a\\\\tb": 1}\t2\t2\t0\t2\t0`,
  "2\t{}\t2024-03-01 01:30:00.5+02\t\\N\t1\t1\t{}\t3\t3\t0\t3\t0",
  "3\t{}\t2024-03-02 00:00:00+00\t\\N\t9\t1\t{}\t3\t3\t0\t3\t0",
] as const;
const LINKS = [
  "id, address, description, banned, banned_by_id, domain_id, password, expire_in, target, user_id, visit_count, created_at, updated_at, uuid",
  "1\tabc\tA tab \\t, a line\\nand a \\\\\tf\t\\N\t\\N\t\\N\t\\N\thttps://example.com/a?q='1'\t1\t7\t2024-01-31 12:34:56.789+00\t2024-01-31 12:34:56+00\tu1",
  "2\tABC\t\\N\tt\t1\t\\N\t\\N\t\\N\thttps://example.com/banned\t1\t0\t2024-01-31 14:04:56+05:30\t\\N\tu2",
  "3\tsecret\t\\N\tf\t\\N\t\\N\t$2a$12$x\t\\N\thttps://example.com/s\t1\t0\t2024-01-31 12:34:56+00\t\\N\tu3",
  "4\tover\t\\N\tf\t\\N\t\\N\t\\N\t2024-06-01 00:00:00+00\thttps://example.com/o\t\\N\t1\t2024-01-31 12:34:56+00\t\\N\tu4",
] as const;
const BRANDED =
  "5\tabc\t\\N\tf\t\\N\t3\t\\N\t2199-01-01 00:00:00+00\thttps://example.com/branded\t1\t0\t2024-01-31 12:34:56+00\t\\N\tu5";

/** As pg_dump writes it. */
function postgresDump(links: readonly string[]): string {
  const copy = (table: string, [columns, ...rows]: readonly string[]) =>
    `COPY public.${table} (${columns}) FROM stdin;\n${rows.map((row) => `${row}\n`).join("")}\\.\n\n\n`;
  return `--
-- PostgreSQL database dump
--

\\restrict abc'def

SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
CREATE FUNCTION public.f() RETURNS text LANGUAGE sql AS $_$ SELECT 'it''s; $$ \\'; $_$;

${copy("domains", ["id, banned, banned_by_id, address, homepage, user_id, created_at, updated_at, uuid", "3\tf\t\\N\tbrand.example\t\\N\t1\t2024-01-01 00:00:00+00\t\\N\tu"])}
${copy("links", links)}
${copy("users", ["id, email", "1\ta@example.com"])}
${copy("visits", VISITS)}
SELECT pg_catalog.setval('public.links_id_seq', 5, true);

--
-- PostgreSQL database dump complete
--

\\unrestrict abc'def
`;
}

const MOVED = {
  links: {
    abc: {
      leads: "https://example.com/a?q=%271%27",
      created: "2024-01-31T12:34:56.789Z",
      visits: 7,
      days: { "2024-02-29": 5 },
    },
    ABC: { leads: 410, created: "2024-01-31T08:34:56.000Z" },
    over: { leads: 404, ends: "2024-06-01T00:00:00.000Z", visits: 1 },
  },
};
const PASSWORD = "it has a password";

describe("curt import --from kutt", () => {
  test("takes a dump of PostgreSQL with visits by day, banned and expired links", () =>
    moveIn("kutt", postgresDump(LINKS), { ...MOVED, left: { [PASSWORD]: ["row 3 of links: secret"] } }));

  test("takes one domain of several", async () => {
    const dump = postgresDump([...LINKS, BRANDED]);
    await refuse(
      "kutt",
      dump,
      "holds links of several domains. Choose one with --domain: default (4), brand.example (1).",
    );
    await moveIn("kutt", dump, {
      links: { abc: { leads: "https://example.com/branded" } },
      left: {
        "it is of another domain": [1, 2, 3, 4].map(
          (nth) => `row ${nth} of links: ${["abc", "ABC", "secret", "over"][nth - 1]}`,
        ),
      },
      options: ["--domain", "Brand.example"],
    });
  });

  test("takes dumps with INSERT, of PostgreSQL and of MySQL", async () => {
    const insert = (dialect: "postgres" | "mysql") => {
      const quote = (name: string) => (dialect === "mysql" ? `\`${name}\`` : `public."${name}"`);
      const slash = dialect === "mysql" ? "\\\\" : "\\";
      return `${dialect === "mysql" ? "" : "-- PostgreSQL database dump complete\n"}
INSERT INTO ${quote("links")} (id, address, description, banned, domain_id, password, expire_in, target, visit_count, created_at) VALUES
  (1, 'abc', 'C:${slash}', ${dialect === "mysql" ? "0" : "false"}, NULL, NULL, NULL, 'https://example.com/a?q=''1''', 7, '2024-01-31 12:34:56.789'),
  (2, 'ABC', NULL, ${dialect === "mysql" ? "1" : "true"}, NULL, NULL, NULL, 'https://example.com/banned', 0, '2024-01-31 08:34:56');
INSERT INTO ${quote("links")} (id, address, banned, domain_id, password, expire_in, target, visit_count, created_at) VALUES (4, 'over', NULL, NULL, '', '2024-06-01 00:00:00', 'https://example.com/o', 1, '2024-01-31 12:34:56');
INSERT INTO ${quote("visits")} (id, link_id, total, created_at) VALUES (1, 1, 2, '2024-02-29 23:00:00'), (2, 1, 3, '2024-02-29 20:00:00');
`;
    };
    await moveIn("kutt", insert("postgres"), MOVED);
    await moveIn("kutt", insert("mysql"), MOVED);
  });

  test("takes the file of SQLite", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "data");
    using database = new Database(path, { create: true });
    database.run(
      "CREATE TABLE domains (id integer primary key, banned boolean, address varchar(255), homepage varchar(255))",
    );
    database.run(
      "CREATE TABLE visits (id integer primary key, link_id integer, total integer, created_at datetime, countries json)",
    );
    await refuse(
      "kutt",
      await Bun.file(path).bytes(),
      "has no table links with a column id",
      "Curt reads a dump of Kutt",
    );
    database.run(
      "CREATE TABLE links (id integer primary key, address varchar(255), banned boolean, domain_id integer, password varchar(255), expire_in datetime, target varchar(2040), visit_count integer, created_at datetime)",
    );
    const insert = database.query("INSERT INTO links VALUES (?, ?, ?, NULL, ?, ?, ?, ?, ?)");
    insert.run(1, "abc", 0, null, null, "https://example.com/a?q='1'", 7, "2024-01-31 12:34:56.789");
    insert.run(2, "ABC", 1, null, null, "https://example.com/banned", 0, "2024-01-31 08:34:56");
    insert.run(3, "secret", 0, "$2a$12$x", null, "https://example.com/s", 0, "2024-01-31 08:34:56");
    insert.run(4, "over", 0, null, 1_717_200_000_000, "https://example.com/o", 1, "2024-01-31 12:34:56");
    database.run(
      "INSERT INTO visits VALUES (1, 1, 2, '2024-02-29 23:00:00', '{}'), (2, 1, 3, '2024-02-29 00:00:00', NULL)",
    );
    await moveIn("kutt", await Bun.file(path).bytes(), {
      ...MOVED,
      left: { [PASSWORD]: ["row 3 of links: secret"] },
    });
  });

  test("refuses what is cut off", async () => {
    const dump = postgresDump(LINKS);
    const visits = dump.indexOf("COPY public.visits");
    await refuse(
      "kutt",
      dump.slice(0, dump.indexOf("\n", visits) + 1),
      "is cut off: the rows of visits have no end",
    );
    await refuse("kutt", dump.slice(0, visits), "is cut off: it does not end with “dump complete”");
    await refuse(
      "kutt",
      dump.replace("\tu4\n", "\n"),
      "is broken at row 4 of links: 13 values for 14 columns",
    );
  });
});
