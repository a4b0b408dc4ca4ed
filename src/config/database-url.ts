import { dirname, resolve } from "node:path";

import type { Format } from "./setting-formats.ts";

export type DatabaseAddress = SqliteAddress | PostgresAddress;

interface SqliteAddress {
  readonly engine: "sqlite";
  readonly path: string;
}

export interface PostgresAddress {
  readonly engine: "postgres";
  /** The servers of one cluster. Any of them may be the primary. */
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  readonly name: string;
  readonly user: string;
  /** A file is read again for each new connection, so that the password can change. */
  readonly password: string | { readonly file: string } | undefined;
  /** As libpq understands it: https://www.postgresql.org/docs/current/libpq-ssl.html */
  readonly sslMode: SslMode;
  /** The file with the certificates of trusted authorities. Without it, the system's are trusted. */
  readonly sslRootCert: string | undefined;
}

const SSL_MODES = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"] as const;
type SslMode = (typeof SSL_MODES)[number];

const DEFAULT_PORT = 5432;
export const MAX_HOSTS = 16;
/** Several hosts make the address unreadable to WHATWG's URL. */
const POSTGRES = /^postgres(?:ql)?:\/\/([^:@/?#]+)(?::([^@/?#]*))?@([^@/?#]+)\/([^/?#]+)(?:\?([^#]*))?$/;
const HOST = /^(?:\[([\da-fA-F:.]+)\]|([^:[\]\s]+))(?::(\d{1,5}))?$/;
/** The parts of any text before a possible password and after the last "@". */
const PARTS = /^(\w+:\/*[^:@/?=\s]*:?)?.*?(@[^@?=\s]*(?:\?sslmode=[\w-]*)?)?$/s;
const PARAMETERS = new Set(["sslmode", "sslrootcert"]);

export const databaseUrl: Format<DatabaseAddress> = {
  right:
    "sqlite: and the path of a file, such as sqlite:./data/curt.db, or an address such as " +
    "postgres://user:password@host1:5432,host2:5432/name?sslmode=verify-full",
  parse: (text) => parseSqlite(text) ?? parsePostgres(text),
  wrongParts: (text) => [withoutPassword(text)],
};

export const postgresUrl: Format<PostgresAddress> = {
  ...databaseUrl,
  right: "an address such as postgres://user:password@host1:5432,host2:5432/name?sslmode=verify-full",
  parse: parsePostgres,
};

/** Names the database in messages, without its password. */
export function describeStore(address: DatabaseAddress): string {
  if (address.engine === "sqlite") return resolve(address.path);
  const hosts = address.hosts.map(({ host, port }) => `${host.includes(":") ? `[${host}]` : host}:${port}`);
  return `postgres://${address.user}@${hosts.join()}/${address.name}`;
}

/** Names the folder with all data in messages, and the database if it is elsewhere. */
export function describePlace(place: {
  readonly database: DatabaseAddress;
  readonly folder: string;
}): string {
  const { database } = place;
  const folder = resolve(place.folder);
  const store = describeStore(database);
  return dirname(store) === folder ? folder : `${store} and ${folder}`;
}

/** A wrong address may have its password anywhere, so this shows only the start and the hosts. */
function withoutPassword(text: string): string {
  if (text.startsWith("sqlite:") || !/[:=]/.test(text)) return text;
  const [, start = "", end = ""] = PARTS.exec(text) ?? [];
  return start + end === text ? text : `${start}…${end}`;
}

function parseSqlite(text: string): SqliteAddress | undefined {
  const [, file] = /^sqlite:(?:\/\/(?=\/))?(.+)$/.exec(text) ?? [];
  return file === undefined || file.includes("\0") || file.startsWith(":") || /[?#]/.test(file)
    ? undefined
    : { engine: "sqlite", path: file };
}

function parsePostgres(text: string): PostgresAddress | undefined {
  const [, user, password, hosts = "", name, query = ""] = POSTGRES.exec(text) ?? [];
  const parsed = hosts.split(",").map(parseHost);
  const known = parsed.filter((host) => host !== undefined);
  const parameters = new URLSearchParams(query);
  const sslMode = parameters.get("sslmode") ?? "prefer";
  const isKnown = [...parameters.keys()].every((key) => PARAMETERS.has(key));
  if (user === undefined || name === undefined || !isKnown || !isSslMode(sslMode)) return undefined;
  if (known.length < parsed.length || known.length > MAX_HOSTS) return undefined;
  const decoded = [user, password, name].map(decode);
  if (decoded.includes(null)) return undefined;
  return {
    engine: "postgres",
    hosts: known,
    user: decoded[0] ?? "",
    password: decoded[1] ?? undefined,
    name: decoded[2] ?? "",
    sslMode,
    sslRootCert: parameters.get("sslrootcert") ?? undefined,
  };
}

function parseHost(text: string): PostgresAddress["hosts"][number] | undefined {
  const [, ipv6, name, port = String(DEFAULT_PORT)] = HOST.exec(text) ?? [];
  const host = ipv6 ?? name;
  const isPort = Number(port) >= 1 && Number(port) <= 65_535;
  return host === undefined || !isPort ? undefined : { host, port: Number(port) };
}

/** Null if the text is not percent-encoded correctly, or has a NUL, which PostgreSQL cannot store. */
function decode(text: string | undefined): string | undefined | null {
  try {
    const decoded = text === undefined ? undefined : decodeURIComponent(text);
    return decoded?.includes("\0") === true ? null : decoded;
  } catch {
    return null;
  }
}

function isSslMode(text: string): text is SslMode {
  return (SSL_MODES as readonly string[]).includes(text);
}
