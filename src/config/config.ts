import { accessSync, constants } from "node:fs";
import { basename, dirname, join } from "node:path";

import { reasonOf } from "../lib/error-reason.ts";
import { isPrivateHost, type Posture } from "../links/target.ts";
import type { DatabaseAddress, PostgresAddress } from "./database-url.ts";
import { limit } from "./formats.ts";
import { type Misspelling, misspellings } from "./misspelling.ts";
import type { Setting } from "./setting.ts";
import { SETTINGS, type Values } from "./settings.ts";

/** Every `auto` has been decided. */
type Decided = { readonly [Key in keyof Values]: Exclude<Values[Key], "auto"> };

/** What only helps to decide others. */
type Settled = "baseUrl" | "databasePasswordFile";

/** The values of all settings, including those derived from several of them. */
export interface Config extends Omit<Decided, Settled> {
  /** The public origin, without a trailing slash. */
  readonly baseUrl: string;
  readonly posture: Posture;
  /** Files. */
  readonly blocklist: readonly string[];
  /** The https:// addresses of BLOCKLIST. */
  readonly blocklistFeeds: readonly string[];
  /** Keeps the lists of feeds. */
  readonly listFolder: string;
  /** Keeps visits until they are in the database. */
  readonly journalFolder: string;
  readonly misspellings: readonly Misspelling[];
  /** Only for a process that joins others: which files of the store they have open. */
  readonly openElsewhere?: readonly string[] | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Reports all mistakes at once. Each says which setting is wrong, its value, and what would be right. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  constructor(readonly mistakes: readonly string[]) {
    super(mistakes.join("\n"));
  }
}

/**
 * Reads and checks each setting, then the rules between settings. Throws {@link ConfigError}. `serves`: also checks files that
 * only a server reads.
 */
export function readConfig(env: Environment, serves = false): Config {
  const mistakes: string[] = [];
  const values = Object.fromEntries(
    Object.entries<Setting>(SETTINGS).map(([key, setting]) => [key, read(setting, env, mistakes)]),
  ) as Partial<Values>;
  mistakes.push(...conflicts(values));
  if (serves) mistakes.push(...unreadable(values));
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return { ...settle(values as Values), misspellings: misspellings(env) };
}

/** If the value is wrong, adds to `mistakes` and returns undefined. */
function read({ name, takes, unset, ...setting }: Setting, env: Environment, mistakes: string[]): unknown {
  const text = env[name]?.trim() || setting.default;
  if (text === setting.default && unset !== undefined) return unset;
  const value = takes.parse(text);
  if (value === undefined) {
    const wrong = takes.wrongParts?.(text) ?? [text];
    const why = takes.reason?.(text);
    mistakes.push(
      ...wrong.map(
        (part) =>
          `${name} must be ${takes.right}, not ${JSON.stringify(part)}${why === undefined ? "" : `: ${why}`}`,
      ),
    );
  }
  return value;
}

/** Checks settings that depend on each other. A setting that is already reported as wrong is undefined here. */
function conflicts({ port, baseUrl, cacheSeconds, interstitial, ...values }: Partial<Values>): string[] {
  const mistakes: string[] = [];
  if (values.databasePasswordFile && values.database && passwordOf(values.database) !== undefined)
    mistakes.push("DATABASE_URL and DATABASE_PASSWORD_FILE: only one of them may give the password");
  if (values.readDatabase && values.database?.engine === "sqlite")
    mistakes.push("READ_URL needs a PostgreSQL database: set DATABASE_URL to postgres://…");
  if (values.metrics && port !== 0 && port === values.metrics.port)
    mistakes.push(`METRICS_PORT must not be PORT (${port}): metrics have a port of their own`);
  if (values.backupFolder && values.database?.engine === "postgres")
    mistakes.push(
      "BACKUP_DIR needs a SQLite database: docs/backup.md says how to back up PostgreSQL, with pg_dump or pg_basebackup",
    );
  if (port === 0 && baseUrl === null)
    mistakes.push("BASE_URL must be set when PORT is 0: the port is not known yet");
  if (cacheSeconds && interstitial === "all")
    mistakes.push(
      "CACHE_SECONDS must be 0 when INTERSTITIAL is on: a shared cache would give people the redirect of a program",
    );
  if (Boolean(values.tlsCert) !== Boolean(values.tlsKey))
    mistakes.push("TLS_CERT and TLS_KEY belong together: set both or neither");
  if (values.tlsCert && baseUrl !== undefined && !baseUrl?.startsWith("https:"))
    mistakes.push("BASE_URL must begin with https:// when Curt serves HTTPS itself");
  return mistakes;
}

/** A file that is not there would otherwise be reported once all else is right. */
function unreadable({ tlsCert, tlsKey }: Partial<Values>): string[] {
  return Object.entries({ TLS_CERT: tlsCert, TLS_KEY: tlsKey }).flatMap(([name, path]) => {
    try {
      if (path) accessSync(path, constants.R_OK);
      return [];
    } catch (error) {
      return `${name} must be a file that can be read, not ${JSON.stringify(path)}: ${reasonOf(error)}`;
    }
  });
}

/** What an `auto` limit is in public posture. In private posture it is off. */
const PUBLIC_LIMITS = { limitCreate: "30/1m,1000/1d", limitUnknown: "60/1m", limitView: "120/1m" };

/** Fills in the defaults that depend on other settings. */
function settle({ blocklist, databasePasswordFile, ...values }: Values): Omit<Config, "misspellings"> {
  const { dataFolder } = values;
  const automaticPort = values.tlsCert === null ? 3000 : 443;
  const port = values.port === "auto" ? automaticPort : values.port;
  const database = withPassword(
    values.database,
    databasePasswordFile === null ? undefined : { file: databasePasswordFile },
  );
  const readDatabase = values.readDatabase && withPassword(values.readDatabase, passwordOf(database));
  const baseUrl = values.baseUrl ?? `http://localhost:${port}`;
  const automatic = isPrivateHost(new URL(baseUrl).hostname) ? "private" : "public";
  const posture = values.posture === "auto" ? automatic : values.posture;
  const automaticallyShown = posture === "public" ? "safe" : "all";
  const statsShown = values.statsShown === "auto" ? automaticallyShown : values.statsShown;
  const limitOf = (name: keyof typeof PUBLIC_LIMITS) => {
    const chosen = values[name];
    if (chosen !== "auto") return chosen;
    return (posture === "public" && limit.parse(PUBLIC_LIMITS[name])) || [];
  };
  const automaticEdits = posture === "public" ? "24h" : "on";
  const edits = values.edits === "auto" ? automaticEdits : values.edits;
  const folder = dataFolder ?? placeOf(database).folder;
  return {
    ...values,
    port,
    database,
    readDatabase,
    baseUrl,
    posture,
    statsShown,
    limitCreate: limitOf("limitCreate"),
    limitUnknown: limitOf("limitUnknown"),
    limitView: limitOf("limitView"),
    edits,
    blocklist: blocklist.filter((list) => !isFeed(list)),
    blocklistFeeds: blocklist.filter(isFeed),
    listFolder: join(folder, "blocklists"),
    journalFolder: journalFolderOf(database, dataFolder),
  };
}

function isFeed(list: string): boolean {
  return list.startsWith("https://");
}

/** The name contains the database's, so that two databases in one folder do not share a journal. */
export function journalFolderOf(database: DatabaseAddress, dataFolder: Config["dataFolder"]): string {
  const { folder, name } = placeOf(database);
  return join(dataFolder ?? folder, `${name}-visits`);
}

function withPassword<Address extends DatabaseAddress>(
  database: Address,
  password: PostgresAddress["password"],
): Address {
  return database.engine === "postgres" && database.password === undefined
    ? { ...database, password }
    : database;
}

function passwordOf(database: DatabaseAddress): PostgresAddress["password"] {
  return database.engine === "postgres" ? database.password : undefined;
}

/** Where files that belong to the database are kept unless something else is set, and how their names begin. */
function placeOf(database: DatabaseAddress): { readonly folder: string; readonly name: string } {
  return database.engine === "sqlite"
    ? { folder: dirname(database.path), name: basename(database.path) }
    : { folder: "./data", name: encodeURIComponent(database.name) };
}
