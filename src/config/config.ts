import { accessSync, constants, existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { reasonOf } from "../lib/error-reason.ts";
import { canonicalHost, isPrivateHost, type Posture } from "../links/target.ts";
import { SHARED_SECRET, shareSecret } from "./access-settings.ts";
import type { DatabaseAddress, PostgresAddress } from "./database-url.ts";
import { automaticTypes } from "./event-settings.ts";
import { findMisspellings, type Misspelling } from "./misspellings.ts";
import { limit, type Setting } from "./setting-formats.ts";
import { type SecretKey, SETTINGS, type Values } from "./settings.ts";

/** The values without `auto`. */
type ResolvedValues = { readonly [Key in keyof Values]: Exclude<Values[Key], "auto"> };

/** Settings that only help to resolve others. */
type Resolved = "baseUrl" | "database" | "databasePasswordFile";

/** The values of all settings, including those derived from several of them. */
export interface Config extends Omit<ResolvedValues, Resolved> {
  /** The public origin, without a trailing slash. */
  readonly baseUrl: string;
  readonly database: DatabaseAddress;
  /** The folder for everything that Curt keeps on this machine, unless DATABASE_URL says otherwise. */
  readonly folder: string;
  readonly posture: Posture;
  /** Whether links may only go to domains that are reserved for examples. No setting: `curt demo` wants it. */
  readonly onlyExamples: boolean;
  /** Files. */
  readonly blocklist: readonly string[];
  /** The https:// addresses of BLOCKLIST. */
  readonly blocklistFeeds: readonly string[];
  /** Keeps the lists of feeds. */
  readonly listFolder: string;
  /** Keeps visits until they are in the database. */
  readonly journalFolder: string;
  /** Whether there may be operators. */
  readonly hasOperators: boolean;
  /** Whether CREATE_TOKEN or its file is set. */
  readonly needsToken: boolean;
  /** Whether anybody may create links, and only those with a name may pass the path on: it opens a whole host. */
  readonly pathsNeedName: boolean;
  readonly misspellings: readonly Misspelling[];
  /** Only for a process that joins others: the files of the store that they have open. */
  readonly openElsewhere?: readonly string[] | undefined;
}

/** The values that other threads may have: no secrets, and no class instances, which can't cross. */
export type PublicConfig = Omit<Config, SecretKey | "trustedProxies">;

export function publicConfigOf(config: Config): PublicConfig {
  const { trustedProxies: _, ...shared } = config;
  const settings: Readonly<Record<string, Setting>> = SETTINGS;
  const isSecret = (key: string) => "isSecret" in (settings[key]?.takes ?? {});
  return Object.fromEntries(Object.entries(shared).filter(([key]) => !isSecret(key))) as PublicConfig;
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
    Object.entries<Setting>(SETTINGS).map(([key, setting]) => [key, readSetting(setting, env, mistakes)]),
  ) as Partial<Values>;
  mistakes.push(...conflicts(values), ...leftBehind(values));
  if (serves) mistakes.push(...unreadable(values));
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return { ...resolve(values as Values), misspellings: findMisspellings(env) };
}

/** If the value is wrong, adds to `mistakes` and returns undefined. */
export function readSetting<T>(
  { name, takes, unset, ...setting }: Setting<T>,
  env: Environment,
  mistakes: string[],
): T | null | readonly never[] | undefined {
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
  for (const [name, token, file] of [
    ["ADMIN_TOKEN", values.adminToken, values.adminTokenFile],
    ["CREATE_TOKEN", values.createToken, values.createTokenFile],
  ] as const)
    if (token && file) mistakes.push(`${name} and ${name}_FILE: set only one of them`);
  if (shareSecret(values.adminToken ?? [], values.createToken ?? [])) mistakes.push(SHARED_SECRET);
  const { adminUserHeader, createUserHeader } = values;
  if (adminUserHeader && adminUserHeader.toLowerCase() === createUserHeader?.toLowerCase())
    mistakes.push(
      "ADMIN_USER_HEADER and CREATE_USER_HEADER must differ: everybody who may create links would be an operator",
    );
  // In a network of all addresses, anybody could claim any name.
  const isNobodyTrusted =
    values.trustedProxies?.length === 0 || values.trustedProxies?.some(({ prefix }) => prefix === 0);
  if ((adminUserHeader ?? createUserHeader) && isNobodyTrusted)
    mistakes.push(
      "ADMIN_USER_HEADER and CREATE_USER_HEADER need TRUSTED_PROXIES, the addresses of the proxies that may name people",
    );
  if (values.editors === "everybody" && createUserHeader === null)
    mistakes.push(
      "EDITORS=everybody needs CREATE_USER_HEADER, the header in which a proxy names these people: set it, or leave EDITORS at maker",
    );
  if (values.readDatabase && (values.database === null || values.database?.engine === "sqlite"))
    mistakes.push("READ_URL needs a PostgreSQL database: set DATABASE_URL to postgres://…");
  if (values.eventsUrl && values.eventsFormat === "cloudevents" && values.eventsSecrets?.length === 0)
    mistakes.push("EVENTS_SECRET must be set when EVENTS_URL is: it signs the events");
  if (values.metrics && port !== 0 && port === values.metrics.port)
    mistakes.push(`METRICS_PORT must not be PORT (${port}): metrics have a port of their own`);
  if (values.backupFolder && values.database?.engine === "postgres")
    mistakes.push(
      "BACKUP_DIR needs a SQLite database: docs/postgresql.md says how to back up PostgreSQL, with pg_dump or pg_basebackup",
    );
  if (port === 0 && baseUrl === null)
    mistakes.push("BASE_URL must be set when PORT is 0: the port is not known yet");
  if (cacheSeconds && interstitial === "all")
    mistakes.push(
      "CACHE_SECONDS must be 0 when INTERSTITIAL is on: a shared cache would serve people the redirect for bots",
    );
  if (Boolean(values.tlsCert) !== Boolean(values.tlsKey))
    mistakes.push("TLS_CERT and TLS_KEY belong together: set both or neither");
  if (values.tlsCert && baseUrl !== undefined && !baseUrl?.startsWith("https:"))
    mistakes.push("BASE_URL must start with https:// when Curt serves HTTPS itself");
  const { domains = [], aliases = [] } = values;
  if (values.tlsCert && domains.some((domain) => !domain.startsWith("https:")))
    mistakes.push("DOMAINS must start with https:// when Curt serves HTTPS itself");
  const hosts = [...[baseUrl ?? "http://localhost", ...domains].map(hostOf), ...aliases.map(canonicalHost)];
  for (const domain of domains)
    if (hosts.indexOf(hostOf(domain)) !== hosts.lastIndexOf(hostOf(domain)))
      mistakes.push(
        `DOMAINS must differ from each other, BASE_URL and ALIASES by their hosts: ${domain} doesn't`,
      );
  const ownUrl = baseUrl ?? `http://localhost:${typeof port === "number" ? port : 3000}`;
  const homes = [...[ownUrl, ...domains].map((domain) => new URL(domain).host), ...aliases];
  for (const { host, url } of values.homeUrls ?? []) {
    if (host !== undefined && ![ownUrl, ...domains].some((domain) => hostOf(domain) === host))
      mistakes.push(`HOME_URL must name hosts of BASE_URL or DOMAINS: ${host} is none`);
    if (new URL(url).pathname === "/" && homes.includes(new URL(url).host))
      mistakes.push(`HOME_URL must not be the home of this service, which would be a loop: ${url}`);
  }
  return mistakes;
}

/**
 * DATA_DIR alone once moved the journal, and left the database in ./data. A start would now create an empty store, and give
 * codes of printed links to others.
 */
function leftBehind({ database, dataFolder }: Partial<Values>): string[] {
  if (database !== null || !dataFolder) return [];
  const [path, left] = [join(dataFolder, DATABASE_FILE), join(DATA_FOLDER, DATABASE_FILE)];
  if (existsSync(path) || !existsSync(`${path}-visits`) || !existsSync(left)) return [];
  return [
    `DATA_DIR must hold the database, but ${path}-visits belongs to ${left}: stop Curt and move ${left}* to ${dataFolder}, or set DATABASE_URL=sqlite:${left}`,
  ];
}

/** The host of an origin, as stores have it. */
export function hostOf(url: string): string {
  return canonicalHost(new URL(url).hostname);
}

/** Checks now, so that a missing file is reported together with other mistakes. */
function unreadable({ tlsCert, tlsKey, adminTokenFile, createTokenFile }: Partial<Values>): string[] {
  const tokenFiles = { ADMIN_TOKEN_FILE: adminTokenFile, CREATE_TOKEN_FILE: createTokenFile };
  return Object.entries({ TLS_CERT: tlsCert, TLS_KEY: tlsKey, ...tokenFiles }).flatMap(([name, path]) => {
    try {
      if (path) accessSync(path, constants.R_OK);
      return [];
    } catch (error) {
      return `${name} must be a file that can be read, not ${JSON.stringify(path)}: ${reasonOf(error)}`;
    }
  });
}

/** Values of `auto` limits in public posture. In private posture they are off. */
export const PUBLIC_LIMITS = { limitCreate: "30/1m,1000/1d", limitUnknown: "60/1m", limitView: "120/1m" };

/** Fills in the defaults that depend on other settings. */
function resolve({ blocklist, databasePasswordFile, ...values }: Values): Omit<Config, "misspellings"> {
  const { dataFolder } = values;
  const automaticPort = values.tlsCert === null ? 3000 : 443;
  const port = values.port === "auto" ? automaticPort : values.port;
  const database = withPassword(
    values.database ?? { engine: "sqlite", path: join(dataFolder ?? DATA_FOLDER, DATABASE_FILE) },
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
  // Without capitals, there are fewer codes of a length.
  const automaticLength = values.codeCase === "ignore" ? 8 : 7;
  const folder = dataFolder ?? placeOf(database).folder;
  const needsToken = (values.createToken ?? values.createTokenFile) !== null;
  return {
    ...values,
    port,
    database,
    folder,
    readDatabase,
    baseUrl,
    posture,
    onlyExamples: false,
    statsShown,
    codeLength: values.codeLength === "auto" ? automaticLength : values.codeLength,
    limitCreate: limitOf("limitCreate"),
    limitUnknown: limitOf("limitUnknown"),
    limitView: limitOf("limitView"),
    edits,
    eventsTypes: values.eventsTypes === "auto" ? automaticTypes(values.eventsFormat) : values.eventsTypes,
    blocklist: blocklist.filter((list) => !isFeed(list)),
    blocklistFeeds: blocklist.filter(isFeed),
    listFolder: join(folder, "blocklists"),
    journalFolder: journalFolderOf(database, dataFolder),
    hasOperators: (values.adminToken ?? values.adminTokenFile ?? values.adminUserHeader) !== null,
    needsToken,
    pathsNeedName: posture === "public" && !needsToken && values.createUserHeader === null,
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

/** Where neither DATA_DIR nor DATABASE_URL says another place. */
const DATA_FOLDER = "./data";
const DATABASE_FILE = "curt.db";

/** The default folder of files that belong to the database, and the start of their names. */
function placeOf(database: DatabaseAddress): { readonly folder: string; readonly name: string } {
  return database.engine === "sqlite"
    ? { folder: dirname(database.path), name: basename(database.path) }
    : { folder: DATA_FOLDER, name: encodeURIComponent(database.name) };
}
