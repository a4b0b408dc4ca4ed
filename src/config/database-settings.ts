import { databaseUrl, postgresUrl } from "./database-url.ts";
import { path, wholeNumber } from "./formats.ts";
import type { Setting } from "./setting.ts";

/** Where things are stored. */
export const DATABASE_SETTINGS = {
  database: {
    name: "DATABASE_URL",
    default: "sqlite:./data/curt.db",
    meaning:
      "where links and statistics are stored: a SQLite file, or postgres://user:password@host:5432/name for a PostgreSQL database; commas separate several hosts of one cluster",
    takes: databaseUrl,
  },
  databasePasswordFile: {
    name: "DATABASE_PASSWORD_FILE",
    default: "none",
    unset: null,
    meaning:
      "file that contains the password of the PostgreSQL database, instead of one in DATABASE_URL; it is read again for each connection",
    takes: path,
  },
  databasePool: {
    name: "DATABASE_POOL",
    default: "8",
    meaning: "connections of each process to the PostgreSQL database, 3 to 1000",
    takes: wholeNumber(3, 1000),
  },
  readDatabase: {
    name: "READ_URL",
    default: "none",
    unset: null,
    meaning:
      "address of standbys of the PostgreSQL database that redirects may be read from, in the form of DATABASE_URL; commas separate several hosts",
    takes: postgresUrl,
  },
  dataFolder: {
    name: "DATA_DIR",
    default: "the database's folder, or ./data with PostgreSQL",
    unset: null,
    meaning: "folder on a local disk for the journal of visits and the lists of feeds",
    takes: path,
  },
} satisfies Record<string, Setting>;
