import { databaseUrl, postgresUrl } from "./database-url.ts";
import { path, wholeNumber, type Setting, duration, type Format } from "./setting-formats.ts";

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
  dataFolder: {
    name: "DATA_DIR",
    default: "./data, or the folder of the SQLite file in DATABASE_URL",
    unset: null,
    meaning:
      "folder on a local disk for all that Curt keeps: the SQLite file, the journal of visits and fetched blocklists",
    takes: path,
  },
  database: {
    name: "DATABASE_URL",
    default: "sqlite:$DATA_DIR/curt.db",
    unset: null,
    meaning:
      "where links and statistics are stored: a PostgreSQL database such as postgres://user:password@host:5432/name, or a SQLite file outside DATA_DIR; commas separate several hosts of one cluster",
    takes: databaseUrl,
  },
  databasePasswordFile: {
    name: "DATABASE_PASSWORD_FILE",
    default: "none",
    unset: null,
    meaning:
      "file with the password of the PostgreSQL database, instead of one in DATABASE_URL; read again for each connection",
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
      "standbys of the PostgreSQL database that redirects may read from, in the form of DATABASE_URL; commas separate several hosts",
    takes: postgresUrl,
  },
  backupFolder: {
    name: "BACKUP_DIR",
    default: "none",
    unset: null,
    meaning: "folder for scheduled backups of the SQLite store; none without it",
    takes: path,
  },
  backupEveryMs: {
    name: "BACKUP_EVERY",
    default: "24h",
    meaning: "time between scheduled backups, such as 24h or 6h",
    takes: every,
  },
  backupKeep: {
    name: "BACKUP_KEEP",
    default: "7",
    meaning: "number of scheduled backups to keep, 1 to 1000; Curt deletes its older ones",
    takes: wholeNumber(1, 1000),
  },
} satisfies Record<string, Setting>;
