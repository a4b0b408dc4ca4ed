import { databaseUrl, postgresUrl } from "./database-url.ts";
import { path, wholeNumber, type Setting, duration, type Format } from "./formats.ts";

const upToMonth = duration("24h", "31d");
const MIN_MS = 1000;

const every: Format<number> = {
  right: "a time such as 24h or 6h, from 1s to 31d",
  parse(text) {
    const ms = upToMonth.parse(text);
    return ms !== undefined && ms >= MIN_MS ? ms : undefined;
  },
};

/** Where links and visits are stored, and backups that Curt makes by itself. */
export const STORAGE_SETTINGS = {
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
  backupFolder: {
    name: "BACKUP_DIR",
    default: "none",
    unset: null,
    meaning:
      "folder in which Curt keeps backups of its SQLite file that it makes by itself; without it, it makes none",
    takes: path,
  },
  backupEveryMs: {
    name: "BACKUP_EVERY",
    default: "24h",
    meaning: "how old the newest backup in BACKUP_DIR gets before Curt makes another one, such as 24h or 6h",
    takes: every,
  },
  backupKeep: {
    name: "BACKUP_KEEP",
    default: "7",
    meaning:
      "how many backups Curt keeps in BACKUP_DIR, 1 to 1000; it deletes the older ones that it made itself",
    takes: wholeNumber(1, 1000),
  },
} satisfies Record<string, Setting>;
