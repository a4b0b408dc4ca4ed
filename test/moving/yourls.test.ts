import { describe, test } from "bun:test";

import { moveIn, refuse } from "./moved.ts";

/** As mysqldump writes the tables of YOURLS. Another table has texts that look like statements. */
const DUMP = `-- MySQL dump 10.13  Distrib 8.0.36, for Linux (x86_64)
--
-- Host: localhost    Database: yourls
-- ------------------------------------------------------
/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!40103 SET TIME_ZONE='+00:00' */;

DROP TABLE IF EXISTS \`yourls_log\`;
CREATE TABLE \`yourls_log\` (
  \`click_id\` int NOT NULL AUTO_INCREMENT,
  \`click_time\` datetime NOT NULL,
  \`shorturl\` varchar(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  \`referrer\` varchar(200) NOT NULL,
  \`user_agent\` varchar(255) NOT NULL,
  \`ip_address\` varchar(41) NOT NULL,
  \`country_code\` char(2) NOT NULL,
  PRIMARY KEY (\`click_id\`),
  KEY \`shorturl\` (\`shorturl\`)
) ENGINE=InnoDB AUTO_INCREMENT=7 DEFAULT CHARSET=utf8mb4;
LOCK TABLES \`yourls_log\` WRITE;
/*!40000 ALTER TABLE \`yourls_log\` DISABLE KEYS */;
INSERT INTO \`yourls_log\` VALUES (1,'2024-02-29 23:59:59','abc','direct','Mozilla/5.0 (it\\'s; \\"x\\")','127.0.0.1','DE'),(2,'2024-03-01 00:00:00','abc','http://a/?);INSERT INTO','','::1',''),(3,'0000-00-00 00:00:00','abc','','','',''),(4,'2024-03-01 08:00:00','ABC','','','',''),(5,'2024-03-01 08:00:00','gone','','','',''),(6,'soon','abc','','','','');
/*!40000 ALTER TABLE \`yourls_log\` ENABLE KEYS */;
UNLOCK TABLES;
CREATE TABLE \`yourls_options\` (
  \`option_id\` bigint unsigned NOT NULL AUTO_INCREMENT,
  \`option_name\` varchar(64) NOT NULL DEFAULT '',
  \`option_value\` longtext NOT NULL,
  PRIMARY KEY (\`option_id\`,\`option_name\`)
);
INSERT INTO \`yourls_options\` VALUES (1,'version','1.9.2'),(2,'x','INSERT INTO \`yourls_url\` VALUES (\\'no\\');\\n-- Dump completed'),(3,'b',_binary '\\0\\\\');
CREATE TABLE \`yourls_url\` (
  \`keyword\` varchar(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
  \`url\` text CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  \`title\` text,
  \`timestamp\` timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
  \`ip\` varchar(41) NOT NULL,
  \`clicks\` int unsigned NOT NULL,
  PRIMARY KEY (\`keyword\`),
  KEY \`url_idx\` (\`url\`(30))
);
INSERT INTO \`yourls_url\` VALUES ('abc','https://example.com/it\\'s?a=\\"1\\"&b=%20','Title\\r\\nwith \\\\ and ''quotes''','2024-01-31 12:34:56','127.0.0.1',7),('ABC','https://example.com/upper',NULL,'2024-01-31 12:34:56','',1),('😀',X'68747470733A2F2F6578616D706C652E636F6D2F656D6F6A69','','0000-00-00 00:00:00','',0);
INSERT INTO \`yourls_url\` (\`url\`,\`keyword\`,\`clicks\`,\`timestamp\`,\`ip\`,\`title\`) VALUES
('javascript:alert(1)','script',5,'2024-01-01 00:00:00','',NULL),
(_utf8mb4 'https://example.com/${"x".repeat(8300)}','long',0,'2024-01-01 00:00:00','',NULL),
('https://example.com/','a!b',0,'2024-01-01 00:00:00','',NULL),
('https://example.com/','api',0,'2024-01-01 00:00:00','',NULL),
('https://example.com/feb','feb',0,'2024-02-30 00:00:00','',NULL),
('https://example.com/a\\0b','nul',0,'2024-01-01 00:00:00','',NULL);
-- Dump completed on 2024-05-05  5:05:05
`;

const LINKS = {
  abc: {
    leads: "https://example.com/it's?a=%221%22&b=%20",
    created: "2024-01-31T12:34:56.000Z",
    visits: 7,
    days: { "2024-02-29": 1, "2024-03-01": 1 },
  },
  ABC: { leads: "https://example.com/upper", visits: 1, days: { "2024-03-01": 1 } },
  "😀": { leads: "https://example.com/emoji" },
};
const BAD_DATE = "one of its dates cannot be read. Dates look like 2026-11-22T10:00:00Z";
const ODD = "code: A character is not allowed: use letters, marks and numbers of any script, -, _ and emoji.";
const LEFT = {
  [BAD_DATE]: ["row 6 of yourls_log: abc", "row 8 of yourls_url: feb"],
  "URL: It must start with http:// or https://.": ["row 4 of yourls_url: script"],
  "URL: It may have at most 8,192 characters, also after percent-encoding.": ["row 5 of yourls_url: long"],
  [ODD]: ["row 6 of yourls_url: a!b (! (U+0021))"],
  'code: "api" is reserved for this service. Please choose another.': ["row 7 of yourls_url: api"],
  "URL: The control character is not allowed.": ["row 9 of yourls_url: nul (U+0000)"],
};

describe("curt import --from yourls", () => {
  test("takes links with their visits by day", () => moveIn("yourls", DUMP, { links: LINKS, left: LEFT }));

  test("takes odd codes on request, and dumps of MariaDB with CRLF and a byte order mark", async () => {
    const { [ODD]: _, ...left } = LEFT;
    const dump = DUMP.replace("-- MySQL", "/*M!999999\\- enable the sandbox mode */ \n-- MariaDB")
      .replaceAll("` VALUES (", "` VALUES\n(")
      .replaceAll("),(", "),\n(");
    await moveIn("yourls", `\uFEFF${dump.replaceAll("\n", "\r\n")}`, {
      links: { ...LINKS, "a!b": { leads: "https://example.com/" } },
      left,
      options: ["--keep-odd"],
    });
  });

  test("takes dumps that name the database with each table, and rows about PostgreSQL", async () => {
    const dump = `-- A dump\nCREATE TABLE \`my-db\`.\`yourls_url\` (\`keyword\` text, \`url\` text, \`title\` text, \`timestamp\` text, \`clicks\` int);
INSERT INTO \`my-db\`.\`yourls_url\` VALUES ('abc','https://example.com/it\\'s','PostgreSQL database','2024-01-31 12:34:56',0);\n`;
    const { visits: _, days: __, ...abc } = LINKS.abc;
    await moveIn("yourls", dump, { links: { abc: { ...abc, leads: "https://example.com/it's" } } });
  });

  test("refuses what is no such dump, or not all of it", async () => {
    const how = "Curt reads a dump of the MySQL database of YOURLS: mysqldump --single-transaction";
    const end = DUMP.indexOf("-- Dump completed on");
    await refuse("yourls", DUMP.slice(0, end), "is cut off: it does not end with", how);
    await refuse("yourls", DUMP.slice(0, end - 20), "is cut off", how);
    await refuse(
      "yourls",
      DUMP.replace("'127.0.0.1',7)", "7)"),
      "is broken at row 1 of yourls_url: 5 values for 6",
    );
    await refuse("yourls", DUMP.replace(",7),", ",now()),"), "has a value that is no text and no number");
    await refuse(
      "yourls",
      DUMP.replaceAll("`yourls_url` VALUES", "`b_url` VALUES").replaceAll(
        "`b_url` V",
        "`b_url` (`keyword`,`url`,`title`,`timestamp`,`ip`,`clicks`) V",
      ),
      "holds both",
    );
    // Two installations whose tables have the same names.
    const others = `USE \`other\`;\n${DUMP.slice(DUMP.indexOf("CREATE TABLE `yourls_url`"))}`;
    await refuse(
      "yourls",
      `USE \`yourls\`;\n${DUMP}${others}`,
      "holds both yourls.yourls_url and other.yourls_url. Dump the tables of one shortener",
    );
    // The structure does not say of which database it is, but rows do.
    const row = "INSERT INTO `yourls_url` VALUES ('a','https://example.com/','','2024-01-31 12:34:56','',0);";
    await refuse(
      "yourls",
      `${DUMP}USE \`yourls\`;\n${row}\nUSE \`other\`;\n${row}`,
      "holds both yourls.yourls_url and other.yourls_url",
    );
    const long = "has a name of more than 1000 characters";
    await refuse("yourls", `INSERT INTO a${" .".repeat(1000)}x VALUES (1);`, long);
    await refuse("yourls", `USE \`${"a".repeat(1001)}\`;`, long);
    await refuse(
      "yourls",
      DUMP.replace("VALUES (", `VALUES (${`'${"a".repeat(1e6)}',`.repeat(5)}`),
      "has a statement that is too long",
    );
    await refuse(
      "yourls",
      "code,url\na,https://example.com/\n",
      "is no SQL dump, or is cut off inside of a statement",
      how,
    );
    await refuse(
      "yourls",
      "INSERT INTO `yourls_url` VALUES ('abc','https://example.com/','','2024-01-31 12:34:56','',7);",
      "does not name the columns of yourls_url. Dump the tables with their structure",
      how,
    );
    await refuse("yourls", "", "has no table with the columns keyword, url, timestamp, clicks", how);
    await refuse("yourls", Bun.gzipSync(DUMP), "is compressed. Unpack it with gunzip.");
    await refuse("yourls", Buffer.from(DUMP, "utf16le"), "is no UTF-8", how);
  });
});
